import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** An address of a host. */
export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Finds the addresses of a name. */
export type Resolve = (name: string) => Promise<readonly Address[]>;

/** As this machine finds them. */
export const resolveName: Resolve = (name) => lookup(name, { all: true });

/** The addresses of a host, which may be one itself; none where there are none. */
export async function addressesOf(host: string, resolve: Resolve): Promise<readonly Address[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    return await resolve(host);
  } catch {
    return [];
  }
}

/** Whether somebody who writes this means one place: an address, or this machine by its name. */
export function isPlace(name: string): boolean {
  return name === 'localhost' || isIP(name) !== 0;
}

/**
 * Whether an address leads to this machine or to what only its own link reaches, such as where clouds hand out
 * credentials: the one who answers for a name decides where it leads.
 */
export function isHere(address: string): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const [plain = ''] = address.split('%');
  if (NEVER.check(plain, family)) return true;
  const own = new BlockList();
  for (const one of Object.values(networkInterfaces()).flat())
    if (one !== undefined) own.addAddress(one.address, one.family === 'IPv6' ? 'ipv6' : 'ipv4');
  return own.check(plain, family);
}

const NEVER = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const)
  NEVER.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of [
  // No address, this machine, and what is left of a form that has an address of IPv4 in it.
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::', 32],
] as const)
  NEVER.addSubnet(net, prefix, 'ipv6');

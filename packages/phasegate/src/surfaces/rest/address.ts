import { isIPv6 } from 'node:net';
import type { Context } from 'hono';
import type { RestEnv } from './parts.ts';

/**
 * Where a request comes from, as far as limits care: one IPv4 address, or the /64 an IPv6 host can pick from.
 * What a proxy says about others is not believed, as anyone can say it.
 */
export function addressOf(c: Context<RestEnv>): string {
  return groupOf(c.env?.incoming?.socket.remoteAddress);
}

/** True for this machine's own names and addresses; not for the addresses that mean every interface. */
export function isLoopback(host: string): boolean {
  const name = bareHost(host);
  return name === 'localhost' || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name);
}

/** A host in lower case without brackets and port. */
export function bareHost(host: string): string {
  const lower = host.trim().toLowerCase();
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(lower);
  if (bracketed !== null) return bracketed[1] ?? '';
  return isIPv6(lower) ? lower : lower.replace(/:\d*$/, '');
}

function groupOf(remote: string | undefined): string {
  if (remote === undefined) return 'unknown';
  const address = remote.replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(address) || address === '::1') return address;
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros =
    right === undefined ? [] : new Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}

import { isIP } from 'node:net';
import { own } from '@phasegate/core';
import type { HttpServer } from './surfaces/rest/httpServer.ts';
import type { PasskeyPlace } from './surfaces/rest/parts.ts';

/** A server that was just bound. */
export interface BoundServer {
  /** Where people find it, as far as was said. */
  readonly origin: string;
  /** Whether that was said by the operator, who answers for what stands there. */
  readonly named: boolean;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Listens at another address as well. */
  also(host: string): Promise<HttpServer>;
}

/**
 * Which pages passkeys are for: they need a name, which is the operator's or `localhost`. INVARIANT: `localhost` is two
 * addresses, and a browser takes either: it is ours only where both are, or an agent could listen on the other one and
 * stand at the very origin that passkeys are for.
 */
export async function openPasskeyPlace(
  bound: BoundServer,
): Promise<{ readonly place: PasskeyPlace; readonly listener: HttpServer | null }> {
  const { origin, named, host, port, tls } = bound;
  const name = new URL(origin).hostname.replace(/^\[(.*)\]$/, '$1');
  const local = { origin: `${tls ? 'https' : 'http'}://localhost:${port}` };
  // A name of the operator's; also `localhost` with another port, which a tunnel or a proxy of theirs has.
  if (isIP(name) === 0 && origin !== local.origin && (named || name !== 'localhost')) {
    return { place: { origin }, listener: null };
  }
  const other = OTHER_LOOPBACK[host];
  if (other === undefined || (named && origin !== local.origin)) {
    return none('its address has no name; give it one with `--public-url`');
  }
  try {
    return { place: local, listener: await bound.also(other) };
  } catch (error) {
    const code = own(own(error, 'cause'), 'code');
    // Where there is no such address, nobody else listens there either.
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return { place: local, listener: null };
    return none(
      `another program listens on port ${port} of \`${other}\`, so \`localhost\` may lead there; choose another port with \`--port\``,
    );
  }
}

const OTHER_LOOPBACK: Readonly<Record<string, string>> = {
  '127.0.0.1': '::1',
  localhost: '::1',
  '::1': '127.0.0.1',
};

function none(problem: string) {
  return { place: { origin: null, problem }, listener: null };
}

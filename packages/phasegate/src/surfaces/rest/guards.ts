import type { Context, MiddlewareHandler } from 'hono';
import { bareHost } from './address.ts';
import type { RestEnv, RestSettings } from './parts.ts';
import { RequestRefused } from './problem.ts';

/** What a request says about where it was made and where it wants to go. */
export interface Provenance {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
}

/**
 * Turns away what a page of somebody else's can make a browser send: a name that was rebound to this machine, another
 * origin, another site. Throws `not_permitted`.
 */
export function demandOwnProvenance(request: Provenance, settings: RestSettings): void {
  const { host = '', origin, fetchSite } = request;
  demandKnownHost(host, settings);
  // A page that tells nobody where it is has no origin to tell either; that it is ours, the browser says itself.
  const untold = origin === 'null' && fetchSite === 'same-origin';
  if (origin !== undefined && !untold && !isOwnOrigin(origin, host, settings)) {
    throw new RequestRefused('not_permitted', `pages of \`${shown(origin)}\` may not call this server`);
  }
  // Looking is harmless, as no answer can be read across origins; and a link from elsewhere may lead here.
  if (request.method === 'GET' || request.method === 'HEAD') return;
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') {
    throw new RequestRefused('not_permitted', 'pages of other sites may not call this server');
  }
}

/** The same for every request that goes through Hono. */
export function guardProvenance(settings: RestSettings): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    const url = new URL(c.req.url);
    const host = c.req.header('host') ?? url.host;
    if (isProbeByAddress(c, host)) return next();
    const from = {
      method: c.req.method,
      host,
      origin: c.req.header('origin'),
      fetchSite: c.req.header('sec-fetch-site'),
    };
    demandOwnProvenance(from, settings);
    // A request line may carry a whole URL, with a host that is not the header's.
    demandKnownHost(url.host, settings);
    await next();
  };
}

/** Headers that keep browsers from doing more with an answer than show it. Pages that need more have said so. */
export const guardResponse: MiddlewareHandler<RestEnv> = async (c, next) => {
  await next();
  harden(c);
};

function harden(c: Context<RestEnv>): void {
  const { headers } = c.res;
  for (const [name, value] of RESPONSE_HEADERS) if (!headers.has(name)) headers.set(name, value);
}

/** What every answer carries unless its route says otherwise. */
export const RESPONSE_HEADERS: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
];

/** Whether this server is known by a name, with or without a port. */
export function isKnownHost(host: string, { hosts }: Pick<RestSettings, 'hosts'>): boolean {
  return hosts.some((name) => bareHost(name) === bareHost(host));
}

/** What balances load asks each server by the address it has, which nobody has named: the one it was reached at. */
function isProbeByAddress(c: Context<RestEnv>, host: string): boolean {
  const reached = c.env?.incoming?.socket.localAddress?.replace(/^::ffff:(?=\d+\.)/, '');
  return PROBES.has(c.req.path) && reached !== undefined && bareHost(host) === reached;
}

const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

function demandKnownHost(host: string, settings: RestSettings): void {
  if (isKnownHost(host, settings)) return;
  throw new RequestRefused('not_permitted', `this server is not known as \`${shown(host)}\``);
}

function isOwnOrigin(origin: string, host: string, settings: RestSettings): boolean {
  if (origin === settings.origin) return true;
  // The server may be called by another of its names; then the page must have come from that very name and port.
  return origin.toLowerCase() === `${settings.secure ? 'https' : 'http'}://${host.toLowerCase()}`;
}

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

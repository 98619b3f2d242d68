import type { Context, MiddlewareHandler } from 'hono';
import { createPaced } from '../../limits/paced.ts';
import { readLimited } from './jsonBody.ts';
import type { Caller, RestEnv, RestParts } from './parts.ts';

/** Bodies up to this size are many and cost nothing. */
export const LARGE = 64 * 1024;
/** Others of the same caller that wait; each is a connection. */
const MOST_WAITING = 8;

/**
 * One large body of a caller at a time, from its first byte to its answer and a while longer: reading one keeps the
 * server busy, so anyone who sends one after the other leaves most of the time to others. Callers are bound before. A body
 * whose length is not said beforehand counts as large.
 */
export function oneLargeBody({ later }: Pick<RestParts, 'later'>): MiddlewareHandler<RestEnv> {
  const paced = createPaced({ what: 'large requests', waiting: MOST_WAITING, later });
  return async (c, next) => {
    const name = nameOf(c.get('caller'));
    return name === null || !isLarge(c) ? next() : paced.act(name, next);
  };
}

/** The request with its body read, no further than the limit. Throws `too_large`. */
export async function withinLimit(c: Context<RestEnv>, limit: number): Promise<Request> {
  const { raw } = c.req;
  if (raw.body === null || raw.method === 'GET' || raw.method === 'HEAD') return raw;
  const body = await readLimited(c, limit);
  const { url, method, headers, signal } = raw;
  return new Request(url, { method, headers, signal, body: new Uint8Array(body) });
}

/** Whether reading the body of a request keeps the server busy. */
export function isLarge(c: Context<RestEnv>): boolean {
  const length = c.req.header('content-length');
  if (length === undefined) return c.req.header('transfer-encoding') !== undefined;
  return Number(length) > LARGE;
}

function nameOf(caller: Caller): string | null {
  switch (caller.kind) {
    case 'agent':
      return caller.agent.principal.name;
    case 'token':
      return caller.admitted.principal.name;
    case 'human':
      return `human ${caller.session.name}`;
    case 'nobody':
    case 'hook':
      return null;
  }
}

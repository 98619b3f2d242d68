import type { Context, MiddlewareHandler } from 'hono';
import { createAllowances } from '../../limits/allowances.ts';
import { createPaced } from '../../limits/paced.ts';
import { readLimited } from './jsonBody.ts';
import type { Caller, RestEnv, RestParts } from './parts.ts';

/** Bodies up to this size are many and cost nothing. */
export const SMALL = 8 * 1024;
/** Bodies above this size wait for each other, however seldom they come. */
const LARGE = 64 * 1024;
/** In bytes: what a caller may send at once in bodies between the two, and how much of it comes back in a second. */
const FREE = 1024 * 1024;
const FREE_PER_SECOND = 256 * 1024;
/** Others of the same caller that wait; each is a connection. */
const MOST_WAITING = 32;

/**
 * One large body of a caller at a time, from its first byte to its answer and a while longer: reading one keeps the
 * server busy, so anyone who sends one after the other leaves most of the time to others. Many that are not large do the
 * same, so each caller has an allowance for these; beyond it they wait in the same line. Callers are bound before. A body
 * whose length is not said beforehand counts as large.
 */
export function paceBodies({ later, now }: Pick<RestParts, 'later' | 'now'>): MiddlewareHandler<RestEnv> {
  const paced = createPaced({ what: 'large requests', waiting: MOST_WAITING, later });
  const allowances = createAllowances({ most: FREE, perSecond: FREE_PER_SECOND, now });
  return async (c, next) => {
    const name = nameOf(c.get('caller'));
    if (name === null) return next();
    const length = Number(c.req.header('content-length') ?? 0);
    const isFree = !isLarge(c) && (length <= SMALL || allowances.take(name, length));
    return isFree ? next() : paced.act(name, next);
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

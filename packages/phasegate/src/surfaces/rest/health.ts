import type { Context, MiddlewareHandler } from 'hono';
import { isLoopback } from './address.ts';
import { humanOf } from './callers.ts';
import type { Metrics } from './metrics.ts';
import type { RestEnv, RestParts, RestSettings } from './parts.ts';

/** The routes that machines watch a server by. */
export interface Health {
  /** Open to this machine; a human's session is asked for from elsewhere. */
  readonly guard: MiddlewareHandler<RestEnv>;
  /** The process answers. */
  readonly alive: (c: Context<RestEnv>) => Response;
  /** The store answers, and the server is not on its way out. */
  readonly ready: (c: Context<RestEnv>) => Promise<Response>;
  readonly metrics: (c: Context<RestEnv>) => Promise<Response>;
  /** From now on the server is not ready. */
  leave(): void;
}

/** Liveness, readiness and metrics of one server. */
export function createHealth(
  parts: Pick<RestParts, 'project' | 'settings' | 'log'>,
  metrics: Metrics,
): Health {
  let leaving = false;
  return {
    guard: async (c, next) => {
      if (!isLocal(c, parts.settings)) humanOf(c);
      await next();
    },
    alive: (c) => c.json({ status: 'ok' }),
    async ready(c) {
      if (leaving) return c.json({ status: 'stopping' }, 503);
      const answered = await answers(parts);
      return answered ? c.json({ status: 'ready' }) : c.json({ status: 'store_unavailable' }, 503);
    },
    async metrics(c) {
      return c.body(await metrics.text(), 200, { 'content-type': metrics.contentType });
    },
    leave() {
      leaving = true;
    },
  };
}

async function answers({ project, log }: Pick<RestParts, 'project' | 'log'>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PATIENCE, false);
  });
  try {
    return await Promise.race([project.feed.newest().then(() => true), tooLate]);
  } catch (error) {
    log.warn({ cause: error instanceof Error ? error.message : String(error) }, 'the store does not answer');
    return false;
  } finally {
    clearTimeout(timer);
  }
}

const PATIENCE = 2000;
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** A proxy on this machine speaks for others: what it forwards does not come from here. */
function isLocal(c: Context<RestEnv>, { origin, behindProxy = false }: RestSettings): boolean {
  // Without a socket, as in a test, only the address the server is known by tells.
  const peer = c.env?.incoming?.socket.remoteAddress ?? new URL(origin).hostname;
  if (behindProxy || !isLoopback(peer)) return false;
  return !FORWARDED.some((name) => c.req.header(name) !== undefined);
}

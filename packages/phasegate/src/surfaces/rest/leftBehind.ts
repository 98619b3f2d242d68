import type { MiddlewareHandler } from 'hono';
import type { RestEnv, RestParts } from './parts.ts';
import { RequestRefused } from './problem.ts';

/**
 * Makes a browser forget what somebody else left at this address while the server was down: files it keeps, and
 * service workers. Cookies stay, as those of other ports are among them.
 */
export const FORGET_OTHERS: Readonly<Record<string, string>> = { 'clear-site-data': '"cache", "storage"' };

/**
 * These pages are for a browser that shows them. A service worker that was left here would ask for them in its name
 * and change what came back; this server has no service worker.
 */
export function guardAgainstWorkers({
  log,
  now,
}: Pick<RestParts, 'log' | 'now'>): MiddlewareHandler<RestEnv> {
  let quietUntil = Number.NEGATIVE_INFINITY;
  const refuse = (message: string) => {
    if (now() >= quietUntil) {
      quietUntil = now() + MINUTE;
      log.warn({ cause: message }, 'a browser may have kept a script that is not of this server');
    }
    return new RequestRefused('not_permitted', `${message}; reload the page`, { headers: FORGET_OTHERS });
  };
  return async (c, next) => {
    if (c.req.header('service-worker') !== undefined) throw refuse('this server has no service worker');
    if (PAGES.has(c.req.path)) {
      const shownAs = c.req.header('sec-fetch-dest') ?? 'document';
      const ahead = c.req.header('service-worker-navigation-preload');
      if (shownAs !== 'document' || ahead !== undefined) throw refuse('a script asked for a page');
    }
    await next();
  };
}

const PAGES: ReadonlySet<string> = new Set(['/', '/sign-in']);
const MINUTE = 60_000;

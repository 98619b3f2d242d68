import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { type DestinationStream, destination, pino, stdTimeFunctions } from 'pino';
import { nameOf } from './callers.ts';
import type { Metrics } from './metrics.ts';
import type { Log, RestEnv } from './parts.ts';

/** Structured lines on stderr, or where a test wants them. Without `verbose`, only warnings and errors. */
export function createLog(options: { readonly verbose: boolean; readonly to?: DestinationStream }): Log {
  const { verbose, to = destination({ dest: 2, sync: true }) } = options;
  const paths = SECRETS.flatMap((name) => [name, `*.${name}`]);
  const logger = pino(
    {
      base: null,
      level: verbose ? 'info' : 'warn',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '[not logged]' },
    },
    to,
  );
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

/** Counts every request, and with `verbose` writes one line for it: never headers, query or body. */
export function countRequests(
  log: Log,
  metrics: Pick<Metrics, 'request'>,
  verbose: boolean,
): MiddlewareHandler<RestEnv> {
  if (!verbose) {
    return async (c, next) => {
      const start = performance.now();
      await next();
      const { status } = c.res;
      const route = routeOf(routePath(c, -1), status);
      metrics.request({ route, method: c.req.method, status, ms: performance.now() - start });
    };
  }
  let count = 0;
  return async (c, next) => {
    const request = ++count;
    const start = performance.now();
    await next();
    const route = routeOf(routePath(c, -1), c.res.status);
    const ms = performance.now() - start;
    metrics.request({ route, method: c.req.method, status: c.res.status, ms });
    const caller = c.get('caller');
    log.info(
      {
        request,
        method: c.req.method,
        route,
        status: c.res.status,
        ms: Math.round(ms * 10) / 10,
        caller: caller === undefined ? null : nameOf(caller),
      },
      'answered',
    );
  };
}

/** A request that met no route must not make a series or a line of its own: its path may be anything. */
function routeOf(path: string, status: number): string {
  if (path.endsWith('*') && path !== '/mcp/*') return status === 404 || status === 405 ? 'unknown' : 'door';
  return path;
}

const SECRETS = [
  'authorization',
  'code',
  'cookie',
  'key',
  'passphrase',
  'phase_token',
  'secret',
  'session',
  'token',
];

import type { Context, Hono } from 'hono';
import type { PageFile, PageFiles } from './pageFiles.ts';
import type { RestEnv } from './parts.ts';
import { splitPlace } from './place.ts';
import { RequestRefused } from './problem.ts';
import { SESSION_SECONDS } from './sessions.ts';

/**
 * Gives out what the page needs, below the path of a session alone: somebody who held this port while the server was
 * down could not know that path, and so could leave no file of theirs in a browser for the page to load.
 */
export function registerPageFiles(app: Hono<RestEnv>, { files }: PageFiles): void {
  app.get('/assets/:name', (c) => {
    const { place } = splitPlace(new URL(c.req.url).pathname);
    const file = place === null ? undefined : files.get(c.req.param('name'));
    if (file === undefined) throw new RequestRefused('route_unknown', 'there is no such file');
    return fileResponse(c, file);
  });
}

/** The page of somebody who is signed in. */
export function dashboardResponse({ index }: PageFiles): Response {
  return new Response(index, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
  });
}

/** Scripts and styles of this very server, no text becomes a script, and what the page learns goes nowhere else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

function fileResponse(c: Context<RestEnv>, { type, body, gzipped }: PageFile): Response {
  const takesGzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
  const packed = takesGzip ? gzipped : null;
  return new Response(packed ?? body, {
    headers: {
      'content-type': type,
      // Its name holds the hash of what is in it, and its path ends with the session.
      'cache-control': `private, max-age=${SESSION_SECONDS}, immutable`,
      vary: 'accept-encoding',
      ...(packed === null ? {} : { 'content-encoding': 'gzip' }),
    },
  });
}

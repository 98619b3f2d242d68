import type { Context, Hono } from 'hono';
import type { PageFile, PageFiles } from './pageFiles.ts';
import type { RestEnv } from './parts.ts';
import { RequestRefused } from './problem.ts';

/** Gives out what the page needs. It is the same for everybody and tells nothing, so anyone may have it. */
export function registerPageFiles(app: Hono<RestEnv>, { files }: PageFiles): void {
  app.get('/assets/:name', (c) => {
    const file = files.get(c.req.param('name'));
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
      // Its name holds the hash of what is in it.
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(packed === null ? {} : { 'content-encoding': 'gzip' }),
    },
  });
}

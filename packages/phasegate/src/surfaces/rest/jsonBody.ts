import { isUtf8 } from 'node:buffer';
import { DEPTH_LIMIT, isJsonObject, type Json } from '@phasegate/core';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import type { RestEnv, RestSettings } from './parts.ts';
import { RequestRefused } from './problem.ts';
import { SESSION_COOKIE } from './sessions.ts';

/**
 * Reads the body once for every route: JSON, within the limit, in UTF-8, not too deep, with keys and numbers that
 * nobody downstream can trip over. No body at all is read as an empty object.
 */
export function guardJsonBody(settings: Pick<RestSettings, 'maxBody'>): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD' || c.req.method === 'OPTIONS') return next();
    const type = c.req.header('content-type');
    if (type !== undefined && !JSON_TYPE.test(type)) throw notJson(`\`${type.slice(0, 100)}\``);
    const bytes = await readLimited(c, settings.maxBody);
    // Browsers send bodies of other types, and none, across origins without asking; with a cookie that is no use here.
    const asksNothing = bytes.length === 0 && (c.req.method === 'DELETE' || !hasCookie(c));
    if (type === undefined && !asksNothing) throw notJson('nothing');
    c.set('body', bytes.length === 0 ? {} : readJson(bytes));
    await next();
  };
}

/** The value of a JSON text in UTF-8. Throws `request_invalid` for what is not, too deep, or not safe to handle. */
export function readJson(bytes: Uint8Array): Json {
  return parseJson(decode(bytes));
}

function parseJson(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw invalid('the body is not JSON');
  }
  const fault = faultIn(value, '', DEPTH_LIMIT);
  if (fault === TOO_DEEP) throw invalid('the body is nested too deeply');
  if (fault !== null) {
    throw new RequestRefused('request_invalid', `the body cannot be used: ${fault.message}`, {
      fields: [fault],
    });
  }
  return value;
}

/** The bytes of a body, read no further than the limit. Throws `too_large`. */
export async function readLimited(c: Context<RestEnv>, limit: number): Promise<Uint8Array> {
  const declared = c.req.header('content-length');
  if (declared !== undefined && Number(declared) > limit) throw tooLarge(limit);
  const { body } = c.req.raw;
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RequestRefused) throw error;
    throw notWhole();
  }
  return Buffer.concat(chunks);
}

/** For a client that hung up in the middle of a body, which is not a fault of the server. */
export function notWhole(): RequestRefused {
  return new RequestRefused('request_invalid', 'the body did not come whole', { status: 400 });
}

const JSON_TYPE = /^application\/json *(; *charset="?utf-8"? *)?$/i;

function hasCookie(c: Context<RestEnv>): boolean {
  return getCookie(c, SESSION_COOKIE) !== undefined;
}

function decode(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw invalid('the body is not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

const BYTE_ORDER_MARK = '\ufeff';

interface Fault {
  readonly field: string;
  readonly message: string;
}

const TOO_DEEP = Symbol('nested too deep');

/** All in one walk, which goes no deeper than the limit. */
function faultIn(value: Json, field: string, left: number): Fault | typeof TOO_DEEP | null {
  if (left < 0) return TOO_DEEP;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : { field, message: 'a number is too large' };
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const fault = faultIn(item, join(field, String(index)), left - 1);
      if (fault !== null) return fault;
    }
    return null;
  }
  if (!isJsonObject(value)) return null;
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return { field: join(field, key), message: '`__proto__` is no key' };
    const fault = faultIn(value[key] ?? null, join(field, key), left - 1);
    if (fault !== null) return fault;
  }
  return null;
}

function join(field: string, key: string): string {
  return `${field}${field === '' ? '' : '.'}${key.slice(0, 100)}`.slice(0, 500);
}

function invalid(message: string): RequestRefused {
  return new RequestRefused('request_invalid', message, { fields: [{ field: '', message }] });
}

function notJson(sent: string): RequestRefused {
  return new RequestRefused('request_invalid', `the body must be \`application/json\`, not ${sent}`, {
    status: 415,
    headers: { accept: 'application/json' },
  });
}

function tooLarge(limit: number): RequestRefused {
  return new RequestRefused('too_large', `the body is larger than ${limit} bytes`, {
    // What is still on its way is not wanted; waiting for it would be.
    headers: { connection: 'close' },
  });
}

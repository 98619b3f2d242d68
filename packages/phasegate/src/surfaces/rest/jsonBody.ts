import { isUtf8 } from 'node:buffer';
import type { Json, JsonObject } from '@phasegate/core';
import { DEPTH_LIMIT } from '@phasegate/core/model';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { isFarTooDeep } from '../../limits/jsonDepth.ts';
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
  if (isFarTooDeep(bytes)) throw invalid(TOO_DEEP_MESSAGE);
  return parseJson(decode(bytes));
}

function parseJson(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw invalid('the body is not JSON');
  }
  const fault = faultIn(value, DEPTH_LIMIT);
  if (fault === TOO_DEEP) throw invalid(TOO_DEEP_MESSAGE);
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
const TOO_DEEP_MESSAGE = 'the body is nested too deeply';

/** All in one walk, which goes no deeper than the limit. The field is spelled only where there is a fault. */
function faultIn(value: Json, left: number): Fault | typeof TOO_DEEP | null {
  if (left < 0) return TOO_DEEP;
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : { field: '', message: 'a number is too large' };
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const fault = faultIn(value[index] as Json, left - 1);
      if (fault !== null) return within(String(index), fault);
    }
    return null;
  }
  const object = value as JsonObject;
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    if (key === '__proto__') return { field: key, message: '`__proto__` is not a key' };
    if (!key.isWellFormed())
      return { field: key.toWellFormed().slice(0, 100), message: 'a key has half of a surrogate pair' };
    const fault = faultIn(object[key] as Json, left - 1);
    if (fault !== null) return within(key, fault);
  }
  return null;
}

function within(key: string, fault: Fault | typeof TOO_DEEP): Fault | typeof TOO_DEEP {
  if (fault === TOO_DEEP) return fault;
  const { field, message } = fault;
  return { field: `${key.slice(0, 100)}${field === '' ? '' : '.'}${field}`.slice(0, 500), message };
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

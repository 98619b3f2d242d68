import type { Json } from '@phasegate/core';
import { jsonProblem } from '@phasegate/core/model';
import { errorFrom, readRetryAfter } from './errorFrom.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';
import { neverSent, retrying } from './retrying.ts';
import { LARGEST_ANSWER, type ReadPage, wholeAnswer } from './wholeAnswer.ts';

/** What a call is made with. */
export interface HttpOptions {
  /** The API's address, as `baseOf` gives it. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  /** What messages call the server. Default: the origin of `base`. */
  readonly shownAs?: string;
  /** Longest wait for one answer; undefined for the limits of the client. */
  readonly timeoutMs: number | undefined;
}

/** One call of the API. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API's address. Never holds a credential. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: Json;
  /** True where doing it twice is the same as doing it once. */
  readonly safe: boolean;
  /** True where nothing of the project changes by it, although it is not to be sent twice. */
  readonly changesNothing?: boolean;
  /** True where the server runs checks or commands before it answers. */
  readonly long?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is not an error. */
export interface Answer {
  readonly status: number;
  /** Null for an empty body. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** Makes calls. */
export interface Http {
  /** Makes a call with a credential or none; throws `PhasegateClientError` for anything but success. */
  send(call: Call, bearer: string | null): Promise<Answer>;
  /** Opens a stream; not tried again, not timed. */
  open(call: Call, bearer: string | null): Promise<Response>;
}

const LARGEST_REFUSAL = 8 * 1024 * 1024;
const ANSWER_MS = 30_000;
// Node's own fetch gives up after five minutes without an answer, so more could not be promised.
const LONG_ANSWER_MS = 300_000;

/** Makes calls over `fetch`. */
export function createHttp(options: HttpOptions): Http {
  return {
    async send(call, bearer) {
      demandJson(call);
      const answer = await retrying(() => sendOnce(options, call, bearer), call);
      const read: ReadPage = async (path, page, secret) => {
        const more: Call = { method: 'GET', path, query: { page }, safe: true, signal: call.signal };
        return (await retrying(() => sendOnce(options, more, secret), more)).body;
      };
      return { ...answer, body: await wholeAnswer(answer.body, read, bearer) };
    },
    open: async (call, bearer) => {
      const response = await exchange(options, call, { bearer, signal: call.signal });
      if (!response.ok) throw await refusal(response);
      return response;
    },
  };
}

/**
 * The API's address for what the user gave: `http://127.0.0.1:8000`, with or without `/api/v1`. The address is not
 * repeated in messages, as it may hold what does not belong there.
 */
export function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new PhasegateClientError(
      'usage',
      '`url` is not an http or https address, and not `unix:` with the path of a socket',
    );
  }
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') {
    throw new PhasegateClientError('usage', '`url` holds more than an address; give the credential as `key`');
  }
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return `${parsed.origin}${path}/api/v1`;
}

/** `JSON.stringify` writes null for what JSON has no number for: the server would be told something else. */
function demandJson({ body }: Call): void {
  const unfit = body === undefined ? null : jsonProblem(body);
  if (unfit !== null) throw new PhasegateClientError('usage', `what is to be sent ${unfit}`);
}

/** Every call carries a credential: refuses an address at which it would go over the network in the open. */
export function demandPrivate(base: string): void {
  const { protocol, hostname } = new URL(base);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  throw new PhasegateClientError(
    'usage',
    `\`${hostname}\` is another machine, and over plain \`http\` everybody on the way reads what is sent there: ` +
      'use `https`, or allow it with `allowInsecureHttp` (`--insecure-http` on the command line)',
  );
}

/** A host as `URL` writes it, which knows every spelling of an address. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname)
  );
}

async function sendOnce(options: HttpOptions, call: Call, bearer: string | null): Promise<Answer> {
  const limit = options.timeoutMs ?? (call.long === true ? LONG_ANSWER_MS : ANSWER_MS);
  const timer = AbortSignal.timeout(limit);
  const signal = call.signal === undefined ? timer : AbortSignal.any([timer, call.signal]);
  const response = await exchange(options, call, { bearer, signal });
  if (!response.ok) throw await refusal(response);
  const text = await textOf(response, LARGEST_ANSWER).catch((error: unknown) => {
    throw error instanceof PhasegateClientError ? error : unanswered(options, call, error);
  });
  return { status: response.status, body: parsed(text, response), headers: response.headers };
}

async function exchange(
  options: HttpOptions,
  call: Call,
  { bearer, signal }: { readonly bearer: string | null; readonly signal: AbortSignal | undefined },
): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers };
  if (bearer !== null) headers.authorization = `Bearer ${bearer}`;
  if (call.method !== 'GET') headers['content-type'] = 'application/json';
  try {
    return await options.fetch(addressOf(options.base, call), {
      method: call.method,
      headers,
      // The API never redirects; following one could carry a body to someone else.
      redirect: 'error',
      // A browser would add its cookies, and two credentials at once are refused.
      credentials: 'omit',
      ...(call.method === 'POST' ? { body: JSON.stringify(call.body ?? {}) } : {}),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    throw unanswered(options, call, error);
  }
}

function addressOf(base: string, call: Call): string {
  const given = Object.entries(call.query ?? {}).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return query.size === 0 ? `${base}${call.path}` : `${base}${call.path}?${query}`;
}

/** What the caller aborted stays the caller's own; all else is a server that does not answer. */
function unanswered(options: HttpOptions, call: Call, error: unknown): unknown {
  if (call.signal?.aborted) return call.signal.reason;
  const name = options.shownAs ?? new URL(options.base).origin;
  const late = error instanceof Error && error.name === 'TimeoutError';
  const what = late ? 'does not answer in time' : 'does not answer';
  return new PhasegateClientError('server_unreachable', `\`${name}\` ${what}`, {
    cause: error,
    uncertain: !call.safe && call.changesNothing !== true && !neverSent(error),
  });
}

async function refusal(response: Response): Promise<PhasegateClientError> {
  const text = await textOf(response, LARGEST_REFUSAL).catch(() => '');
  const retryAfter = readRetryAfter(response.headers.get('retry-after'), Date.now());
  return errorFrom(response.status, jsonOf(text), retryAfter);
}

/** Anyone who answers at an address could answer without end: reading stops at the limit. */
async function textOf(response: Response, limit: number): Promise<string> {
  if (response.body === null) return '';
  // Not every browser lets a body be iterated over.
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > limit) {
      void reader.cancel().catch(() => undefined);
      throw new PhasegateClientError('too_large', `the answer is larger than ${limit} bytes`, {
        status: response.status,
      });
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string, response: Response): unknown {
  if (text === '') return null;
  const value = jsonOf(text);
  if (value !== undefined) return value;
  throw new PhasegateClientError('server_unreachable', 'what answers at `url` is no Phasegate server', {
    status: response.status,
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What went wrong with a request, in the words of the server where it gave any. */
export class Problem extends Error {
  /** 0 where no answer came. */
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly blockers: readonly Told[];

  constructor(message: string, told: ToldProblem) {
    super(message);
    this.name = 'Problem';
    this.status = told.status;
    this.code = told.code;
    this.hint = told.hint ?? null;
    this.blockers = told.blockers ?? [];
  }
}

/** One reason for a refusal. */
export interface Told {
  readonly code: string;
  readonly message: string;
  readonly next_action?: string;
}

interface ToldProblem {
  readonly status: number;
  readonly code: string;
  readonly hint?: string | null;
  readonly blockers?: readonly Told[];
}

/** What stands behind the `?` of a request; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** The address of a route, below the path of this session. */
export function addressOf(path: string, query: Query = {}): string {
  const url = new URL(`api/v1${path}`, document.baseURI);
  url.hash = '';
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Reads something. Throws a `Problem`. */
export function ask<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return send<T>(addressOf(path, query), { method: 'GET' }, { signal });
}

/** Reads something that may take minutes. Throws a `Problem`. */
export function askSlowly<T>(path: string): Promise<T> {
  return send<T>(addressOf(path), { method: 'GET' }, { patience: 20 * 60_000 });
}

/** Changes something. Throws a `Problem`. */
export function act<T>(path: string, body: unknown, method: 'POST' | 'DELETE' = 'POST'): Promise<T> {
  const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return send<T>(addressOf(path), init);
}

/** A server that says nothing for so long is not waited for. */
const PATIENCE_MS = 30_000;

async function send<T>(
  url: string,
  init: RequestInit,
  waiting: { readonly signal?: AbortSignal | undefined; readonly patience?: number } = {},
): Promise<T> {
  const { signal, patience: longest = PATIENCE_MS } = waiting;
  const patience = AbortSignal.timeout(longest);
  const either = signal === undefined ? patience : AbortSignal.any([signal, patience]);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { ...init, signal: either, cache: 'no-store', redirect: 'error' });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (patience.aborted) throw silent(`the server has not answered for ${longest / 1000} seconds`);
    throw silent('the server cannot be reached');
  }
  const value = parsed(text);
  if (response.ok && (value !== undefined || text === '')) return value as T;
  throw problemFrom(response.status, value);
}

function silent(message: string): Problem {
  return new Problem(message, {
    status: 0,
    code: 'no_answer',
    hint: 'see whether `phasegate serve` is running; this page tries again by itself',
  });
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemFrom(status: number, value: unknown): Problem {
  const told = (typeof value === 'object' && value !== null ? value : {}) as Partial<{
    error: string;
    message: string;
    hint: string;
    blockers: readonly Told[];
  }>;
  return new Problem(told.message ?? `the server answered ${status} and said nothing more`, {
    status,
    code: told.error ?? `status_${status}`,
    hint: told.hint ?? (status >= 500 ? 'the log of `phasegate serve` says more' : null),
    ...(told.blockers === undefined ? {} : { blockers: told.blockers }),
  });
}

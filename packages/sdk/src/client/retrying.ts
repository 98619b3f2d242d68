import { PhasegateClientError } from './PhasegateClientError.ts';

/** How often a call is tried, counting the first. */
export const TRIES = 4;

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;
/** A server that asks for more patience than this is reported instead of waited for. */
const LONGEST_ASKED_MS = 30_000;

/**
 * Tries a call again where that can do no harm: a safe one when no answer came or the server was busy, any other only
 * when its request cannot have been sent.
 */
export async function retrying<T>(
  attempt: () => Promise<T>,
  { safe, signal }: { readonly safe: boolean; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const delay = delayAfter(error, tried, safe);
      if (delay === null) throw error;
      await pause(delay, signal);
    }
  }
}

/** Waits; throws the signal's reason when it is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Doubles with every try, up to a limit; half of it is chance, so that many clients do not come back at once. */
export function backoff(tried: number): number {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tried - 1));
  return full / 2 + (Math.random() * full) / 2;
}

/** True where the connection was refused or the name is unknown: nothing can have been carried out. */
export function neverSent(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof AggregateError && at.errors.length > 0) return at.errors.every(neverSent);
    const code = String((at as { readonly code?: unknown }).code ?? '');
    if (NOT_CONNECTED.has(code) || /connection refused/i.test(at.message)) return true;
  }
  return false;
}

// As Node, Bun and Deno name them. Browsers do not say why a request failed, so there nothing counts as refused.
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

function delayAfter(error: unknown, tried: number, safe: boolean): number | null {
  if (!(error instanceof PhasegateClientError) || tried >= TRIES) return null;
  if (error.status === null) return safe || neverSent(error.cause) ? backoff(tried) : null;
  if (!safe || !BUSY.has(error.status)) return null;
  const asked = error.retryAfterMs ?? 0;
  return asked > LONGEST_ASKED_MS ? null : Math.max(asked, backoff(tried));
}

const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

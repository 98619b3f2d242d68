/** Counts failures by address, within a window that starts with the first. */
export interface FailureLimit {
  /** Counts one. */
  failed(address: string): Counted;
  /** Seconds until the address may try again, or null where it may now. */
  waitOf(address: string): number | null;
}

/** What counting a failure came to. */
export interface Counted {
  /** Whether the address is over the limit with this one. */
  readonly over: boolean;
  /** Seconds until the window ends. */
  readonly retryAfter: number;
}

/** How much is too much. */
export interface LimitOptions {
  /** Failures allowed in one window. */
  readonly limit: number;
  readonly windowMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A limit on failures. It never stands in the way of what succeeds, so that nobody can lock another out. */
export function createFailureLimit({ limit, windowMs, now }: LimitOptions): FailureLimit {
  const windows = new Map<string, Window>();

  function windowOf(address: string): Window {
    const present = windows.get(address);
    if (present !== undefined && now() - present.start < windowMs) return present;
    // Moved to the end, so that the oldest is the one to make room.
    windows.delete(address);
    const fresh = { start: now(), count: 0 };
    windows.set(address, fresh);
    if (windows.size > MOST_ADDRESSES) windows.delete(windows.keys().next().value ?? '');
    return fresh;
  }
  const rest = (window: Window) => Math.max(1, Math.ceil((window.start + windowMs - now()) / 1000));

  return {
    failed(address) {
      const window = windowOf(address);
      window.count++;
      return { over: window.count > limit, retryAfter: rest(window) };
    },
    waitOf(address) {
      const window = windows.get(address);
      if (window === undefined || now() - window.start >= windowMs || window.count < limit) return null;
      return rest(window);
    },
  };
}

const MOST_ADDRESSES = 10_000;

interface Window {
  readonly start: number;
  count: number;
}

import { setTimeout } from 'node:timers/promises';
import { busy, isBusy } from './refused.ts';

/** How long to wait for others. */
export interface Patience {
  readonly busyMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Does something with a file as soon as others let it, or throws `database_busy`; waits without blocking. */
export async function whenFree<Value>(
  file: string,
  { busyMs, signal }: Patience,
  work: () => Value | Promise<Value>,
): Promise<Value> {
  const deadline = performance.now() + busyMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= deadline) throw busy(file, error);
    }
    await setTimeout(pause, undefined, signal === undefined ? {} : { signal });
  }
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

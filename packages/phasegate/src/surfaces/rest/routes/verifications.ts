import { createTurns } from '../../../limits/turns.ts';

/** Each human has one at a time, and one more that waits. */
const own = createTurns({ what: 'verifications of the audit', atOnce: 1, waiting: 1 });
/** It reads everything and takes all cores it gets: of all humans together one is under way, however many ask. */
const all = createTurns({ what: 'verifications of the audit', atOnce: 1, waiting: 16 });
/** After one, the same human waits for as long as it took, at most so many milliseconds. */
const LONGEST_REST_MS = 60_000;

/** Verifies the audit for a human when it is their turn. */
export async function verifyFor<T>(name: string, work: () => Promise<T>): Promise<T> {
  const end = await own.take(name);
  let took = 0;
  try {
    const leave = await all.take('everybody together');
    const began = performance.now();
    try {
      return await work();
    } finally {
      took = performance.now() - began;
      leave();
    }
  } finally {
    setTimeout(end, Math.min(Math.ceil(took), LONGEST_REST_MS)).unref();
  }
}

import { DatabaseSync } from 'node:sqlite';
import { type Anchor, joinShares, type Share, type ShareFound } from '@phasegate/audit/verify';
import { type ErrorCode, PhasegateError } from '@phasegate/core';

/** Threads a verification may share its work with. */
export interface VerifyThreads {
  /** How many; fewer than two are none. */
  readonly most: number;
  /** How many records make it worth to start them. */
  readonly from: number;
  /** How many seconds a thread may go without a sign of work. */
  readonly patience: number;
  /** Starts one that calls `verifyShares` with what it is given and the project's keys. */
  start(order: ThreadOrder): VerifyThread;
}

/** What is asked of a thread; a `Worker` of Node is one. Types that users see name no module of Node. */
export interface VerifyThread {
  postMessage(work: ThreadWork): void;
  on(event: 'message', listener: (word: ThreadWord) => void): unknown;
  on(event: 'error', listener: (cause: unknown) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  terminate(): Promise<unknown>;
}

/** What a thread is told at its start. */
export interface ThreadOrder {
  readonly file: string;
  readonly index: number;
  /** Numbers all threads share; see `GO` and what follows it. */
  readonly control: SharedArrayBuffer;
}

/** What a thread is told once all of them see the same moment. */
export interface ThreadWork {
  readonly shares: readonly Share[];
  readonly since: Anchor | null;
}

/** What a thread says. */
export type ThreadWord =
  | { readonly word: 'ready' }
  | { readonly word: 'found'; readonly share: number; readonly found: ShareFound }
  | { readonly word: 'done' }
  | {
      readonly word: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      readonly hint: string | undefined;
    };

/** Threads that verify together, each one share after another. */
export interface Crew {
  /** Has all threads, and `here`, begin to read at the same moment. */
  begin(here: () => void): void;
  verify(work: ThreadWork, onProgress?: (records: number) => void): Promise<ShareFound>;
  /** Ends all threads, whatever they do. */
  end(): Promise<void>;
}

/** Places in the shared numbers: whether to begin, how many have, the next share, and each thread's count of steps. */
export const [GO, BEGUN, NEXT, STEPS] = [0, 1, 2, 3] as const;

/** Starts the threads and waits until each could begin. */
export async function startCrew(threads: VerifyThreads, file: string): Promise<Crew> {
  const control = new SharedArrayBuffer(4 * (STEPS + threads.most));
  const numbers = new Int32Array(control);
  const workers = Array.from({ length: threads.most }, (_, index) => threads.start({ file, index, control }));
  const end = async () => void (await Promise.all(workers.map((worker) => worker.terminate())));
  const listening = workers.map((worker, index) =>
    listen(worker, { steps: () => numbers[STEPS + index] ?? 0, patience: threads.patience }),
  );
  try {
    await Promise.all(listening.map(({ ready }) => ready));
  } catch (error) {
    await end();
    throw error;
  }
  return {
    end,
    begin(here) {
      // Nobody writes while they begin, so all of them see the same. This thread waits and does nothing else
      // meanwhile: a write of its own would wait for the lock forever.
      const lock = new DatabaseSync(file);
      try {
        lock.exec('PRAGMA busy_timeout=5000; BEGIN IMMEDIATE');
        here();
        Atomics.store(numbers, GO, 1);
        Atomics.notify(numbers, GO);
        for (let begun = 0; begun < workers.length; begun = Atomics.load(numbers, BEGUN)) {
          if (Atomics.wait(numbers, BEGUN, begun, BEGIN_WITHIN) === 'timed-out') throw ended('did not begin');
        }
      } finally {
        lock.close();
      }
    },
    async verify(work, onProgress) {
      const found: ShareFound[] = [];
      for (const worker of workers) worker.postMessage(work);
      await Promise.all(
        listening.map(({ done }) =>
          done((share, one) => {
            found[share] = one;
            onProgress?.(numbers.subarray(STEPS).reduce((total, steps) => total + steps, 0));
          }),
        ),
      );
      // What no thread tells of was not verified.
      for (const share of work.shares.keys()) if (found[share] === undefined) throw ended('left runs out');
      return joinShares(found);
    },
  };
}

const BEGIN_WITHIN = 10_000;

interface Listening {
  readonly ready: Promise<void>;
  done(onFound: (share: number, found: ShareFound) => void): Promise<void>;
}

/** A thread that fails, ends before it is done or shows no sign of work fails whatever waits for it. */
function listen(
  worker: VerifyThread,
  { steps, patience }: { readonly steps: () => number; readonly patience: number },
): Listening {
  const ready = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let onFound: (share: number, found: ShareFound) => void = () => undefined;
  let [seen, still] = [-1, 0];
  const watch = setInterval(() => {
    still = steps() === seen ? still + 1 : 0;
    seen = steps();
    if (still >= patience) fail(ended('shows no sign of work'));
  }, 1000);
  const fail = (error: unknown) => {
    clearInterval(watch);
    ready.reject(error);
    done.reject(error);
  };
  // Each is awaited later, if at all; a failure before that is not unhandled.
  for (const { promise } of [ready, done]) promise.catch(() => undefined);
  worker.on('message', (told: ThreadWord) => {
    still = 0;
    if (told.word === 'ready') ready.resolve();
    else if (told.word === 'found') onFound(told.share, told.found);
    else if (told.word === 'failed') fail(new PhasegateError(told.code, told.message, hintOf(told)));
    else {
      clearInterval(watch);
      done.resolve();
    }
  });
  worker.on('error', (cause) => fail(ended('failed', cause)));
  worker.on('exit', () => fail(ended('ended before it was done')));
  return {
    ready: ready.promise,
    done(listener) {
      onFound = listener;
      return done.promise;
    },
  };
}

function hintOf({ hint }: { readonly hint: string | undefined }): { readonly hint?: string } {
  return hint === undefined ? {} : { hint };
}

function ended(what: string, cause?: unknown): PhasegateError {
  return new PhasegateError(
    'internal',
    `nothing is known about the audit: a thread of its verification ${what}`,
    {
      cause,
    },
  );
}

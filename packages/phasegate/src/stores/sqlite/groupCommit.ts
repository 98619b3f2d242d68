/** Runs writes that wait together in one transaction: one wait for the disk, each answered after it. */
export interface GroupCommit {
  /**
   * Has the work done in the next transaction and answers when that is on disk. Work that throws fails alone: it may
   * be done a second time, in a transaction without the one that threw.
   * INVARIANT: work that throws `declined` has written nothing.
   */
  submit<T>(work: () => T): Promise<T>;
  /** Does at once all that waits. */
  flush(): void;
}

/** What a batch is made of. */
export interface BatchSteps {
  begin(): void;
  /** Last writes of the batch, given that at least one work was done. */
  finish(): void;
  commit(): void;
  rollback(): void;
  /** The batch is on disk and its answers are sent. */
  done(): void;
  /** Whether only the work that threw this is at fault. */
  declined(error: unknown): boolean;
  /** Whether every work would meet this: the disk or the database is at fault, not what was to be written. */
  everybodys(error: unknown): boolean;
  /** The fault to report for what a batch threw. */
  fault(error: unknown): Error;
}

/** Builds a group commit over the steps of a database; `now` is in milliseconds of any clock that never goes back. */
export function createGroupCommit(
  steps: BatchSteps,
  now: () => number = () => process.uptime() * 1000,
): GroupCommit {
  let waiting: Waiting[] = [];
  /** Since when the oldest waits. */
  let since = 0;
  /** Whether writes came together lately, so that others are likely on their way. */
  let busy = false;

  /** A lone write waits for nothing but the turn; among many it waits until no other has come for a few turns. */
  function flushWhenQuiet(seen: number, turns: number): void {
    const grown = waiting.length > seen;
    if (grown) busy = true;
    // Turns may be long: one agent whose every request takes milliseconds would else have all others wait for all of its.
    const enough = waiting.length >= ENOUGH || (!grown && turns === 0) || now() - since >= LONGEST;
    if (!busy || enough) {
      flush();
      return;
    }
    const left = grown ? PATIENCE : turns - 1;
    const count = waiting.length;
    setImmediate(() => flushWhenQuiet(count, left));
  }

  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    busy = batch.length > 1;
    const done = commitAll(steps, batch);
    for (const answer of done.answers) answer();
    if (done.written) steps.done();
  }

  return {
    flush,
    submit: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        // After the current turn: all that became ready with this write joins its batch.
        if (waiting.length === 0) {
          since = now();
          setImmediate(() => flushWhenQuiet(1, PATIENCE));
        }
        waiting.push({ run: () => answerTo(work(), resolve), reject });
      }),
  };
}

/** Turns of the event loop. A start takes as many from the answer before it; each costs a hundredth of a commit. */
const PATIENCE = 4;

/** Nobody need wait for a batch to become larger than this. */
const ENOUGH = 512;

/** In milliseconds; a tenth of what a tool check may take. Batches of honest agents are written long before. */
const LONGEST = 10;

interface Waiting {
  /** Does the work and gives the answer to send once it is durable. */
  run(): () => void;
  reject(error: Error): void;
}

function answerTo<T>(value: T, resolve: (value: T) => void): () => void {
  return () => resolve(value);
}

interface Committed {
  /** To be sent now: what was done is on disk, and what failed never will be. */
  readonly answers: readonly (() => void)[];
  readonly written: boolean;
}

/**
 * INVARIANT: what one work throws fails no other. Whatever it wrote before it threw is rolled back with the batch, and
 * the others are done again without it.
 */
function commitAll(steps: BatchSteps, batch: readonly Waiting[]): Committed {
  let left = batch;
  const refused: (() => void)[] = [];
  while (left.length > 0) {
    const ended = runBatch(steps, left);
    if (ended.ok) return { answers: [...refused, ...ended.answers], written: true };
    const { error, guilty } = ended;
    const fault = steps.fault(error);
    if (steps.everybodys(error) || left.length === 1) {
      const failed = left.map(
        ({ reject }) =>
          () =>
            reject(fault),
      );
      return { answers: [...refused, ...failed], written: false };
    }
    // Only the last writes of the batch failed, so nobody knows whose they were: each is tried by itself.
    if (guilty === null) return oneByOne(steps, left, refused);
    refused.push(() => guilty.reject(fault));
    left = left.filter((waiting) => waiting !== guilty);
  }
  return { answers: refused, written: false };
}

function oneByOne(steps: BatchSteps, batch: readonly Waiting[], refused: readonly (() => void)[]): Committed {
  const alone = batch.map((waiting) => commitAll(steps, [waiting]));
  return {
    answers: [...refused, ...alone.flatMap(({ answers }) => answers)],
    written: alone.some(({ written }) => written),
  };
}

type Ended =
  | { readonly ok: true; readonly answers: readonly (() => void)[] }
  | { readonly ok: false; readonly error: unknown; readonly guilty: Waiting | null };

function runBatch(steps: BatchSteps, batch: readonly Waiting[]): Ended {
  const answers: (() => void)[] = [];
  let guilty: Waiting | null = null;
  try {
    steps.begin();
    for (const waiting of batch) {
      guilty = waiting;
      answers.push(runOne(steps, waiting));
    }
    guilty = null;
    steps.finish();
    steps.commit();
  } catch (error) {
    steps.rollback();
    return { ok: false, error, guilty };
  }
  return { ok: true, answers };
}

function runOne(steps: BatchSteps, { run, reject }: Waiting): () => void {
  try {
    return run();
  } catch (error) {
    if (!steps.declined(error)) throw error;
    return () => reject(steps.fault(error));
  }
}

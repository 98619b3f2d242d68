/** Runs writes that wait together in one transaction: one wait for the disk, each answered after it. */
export interface GroupCommit {
  /**
   * Has the work done in the next transaction and answers when that is on disk.
   * INVARIANT: work that throws `declined` has written nothing; anything else it throws fails the batch.
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
  /** The fault to report for what a batch threw. */
  fault(error: unknown): Error;
}

/** Builds a group commit over the steps of a database. */
export function createGroupCommit(steps: BatchSteps): GroupCommit {
  let waiting: Waiting[] = [];

  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    let answers: readonly (() => void)[];
    try {
      answers = runBatch(steps, batch);
    } catch (error) {
      const fault = steps.fault(error);
      for (const { reject } of batch) reject(fault);
      return;
    }
    for (const answer of answers) answer();
    steps.done();
  }

  return {
    flush,
    submit: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        // After the current turn: all that became ready with this write joins its batch, and a lone write
        // waits for nothing but the turn.
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ run: () => answerTo(work(), resolve), reject });
      }),
  };
}

interface Waiting {
  /** Does the work and gives the answer to send once it is durable. */
  run(): () => void;
  reject(error: Error): void;
}

function answerTo<T>(value: T, resolve: (value: T) => void): () => void {
  return () => resolve(value);
}

function runBatch(steps: BatchSteps, batch: readonly Waiting[]): readonly (() => void)[] {
  const answers: (() => void)[] = [];
  try {
    steps.begin();
    for (const waiting of batch) answers.push(runOne(steps, waiting));
    steps.finish();
    steps.commit();
  } catch (error) {
    steps.rollback();
    throw error;
  }
  return answers;
}

function runOne(steps: BatchSteps, { run, reject }: Waiting): () => void {
  try {
    return run();
  } catch (error) {
    if (!steps.declined(error)) throw error;
    return () => reject(steps.fault(error));
  }
}

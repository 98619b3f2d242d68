/** What is measured: steps of runs, or verdicts on tools. */
export type Work = 'transitions' | 'checks';

/** One stretch of work of one process. */
export interface Stretch {
  readonly work: Work;
  /** How many at a time. */
  readonly parallel: number;
  /** Whether those at a time are committed together, where the process can do either. */
  readonly together: boolean;
  /** How long, for what can go on for as long as one likes. */
  readonly seconds: number;
  /** Runs of five steps for each at a time, for what must be made before. */
  readonly runs: number;
}

/** What came of it. */
export interface Came {
  readonly count: number;
  /** Milliseconds of the processor, of this process alone. */
  readonly cpu: number;
}

/** Something that does such work in a process of its own. */
export interface Contender {
  /** Makes what the stretch needs, which is not counted. */
  prepare(stretch: Stretch): Promise<void>;
  /** Does what was prepared; gives how many transitions or verdicts it was. */
  go(stretch: Stretch): Promise<number>;
  close(): Promise<void>;
}

/** Answers the parent: a stretch is prepared, done when it says so, and the next one waited for. */
export function contend(contender: Contender): void {
  process.on('message', (told: { readonly step: 'prepare' | 'go' | 'end'; readonly stretch: Stretch }) => {
    answer(contender, told).then(
      (came) => process.send?.({ came }),
      (error: unknown) => process.send?.({ failed: String((error as Error).stack ?? error) }),
    );
  });
  process.send?.({ came: null });
}

async function answer(
  contender: Contender,
  { step, stretch }: { readonly step: 'prepare' | 'go' | 'end'; readonly stretch: Stretch },
): Promise<Came | null> {
  if (step === 'prepare') await contender.prepare(stretch);
  if (step === 'end') {
    await contender.close();
    setImmediate(() => process.disconnect());
  }
  if (step !== 'go') return null;
  const before = process.cpuUsage();
  const count = await contender.go(stretch);
  const { user, system } = process.cpuUsage(before);
  return { count, cpu: (user + system) / 1000 };
}

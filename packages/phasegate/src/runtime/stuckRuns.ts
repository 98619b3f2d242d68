import { own } from '@phasegate/core';
import type { FoundAt, KeptStore, QuietRun, RunFinder, RunStore } from './ports.ts';

/** Finds runs in which nothing happens, and says so once for each visit of a phase. */
export interface StuckRuns {
  /** The next of them in this sweep, and whether it is over with these; then another begins. */
  next(): Promise<{ readonly found: readonly QuietRun[]; readonly over: boolean }>;
  report(run: QuietRun): Promise<void>;
}

/** Looks for runs whose newest record is older than `afterMs`. Who is at work on a leased run is heard of, and is not stuck. */
export function createStuckRuns(parts: {
  readonly store: KeptStore & RunStore & RunFinder;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly afterMs: number;
}): StuckRuns {
  const { store, now, afterMs } = parts;
  let after: FoundAt | undefined;
  const instant = (time: number) => new Date(time).toISOString();

  return {
    async next() {
      const found = await store.quiet({ since: instant(now() - afterMs), limit: PAGE, after });
      const over = found.length < PAGE;
      // What cannot be dealt with stays where it is, and is passed over until the next sweep.
      after = over ? undefined : found.at(-1)?.at;
      return { found, over };
    },

    async report({ run: runId, newest, stuck }) {
      const stored = await store.load(runId);
      if (stored === undefined || stored.run.phase === null) return;
      const { run, version } = stored;
      const visit = visitOf(run.visits);
      const said = await store.kept(KIND, runId);
      const isSaid = said?.visit === visit || own(stuck?.data ?? null, 'visit') === visit;
      if (isSaid) return store.lookAgain(runId, version, null);
      const since = Date.parse(newest);
      if (since > now() - afterMs) return store.lookAgain(runId, version, newest);
      const data = {
        phase: run.phase,
        visit,
        status: run.status,
        holder: run.holder,
        since: newest,
        seconds: Math.floor((now() - since) / 1000),
      };
      const draft = {
        time: instant(now()),
        principal: 'engine:phasegate',
        event: 'run_stuck' as const,
        data,
      };
      // Only as long as nothing happened: whatever moves a run on raises its epoch. And by one of all who look: the second
      // one finds that it is said.
      const beside = { run: runId, audit: [draft], epoch: run.epoch, was: said ?? null };
      if (await store.keep({ kind: KIND, key: runId, data: { visit } }, beside))
        await store.lookAgain(runId, version, null);
    },
  };
}

/** Under it is kept which visit of a run was told of last. */
const KIND = 'stuck';

/** Few enough to leave the round to others soon. */
const PAGE = 500;

/** Every entry of a phase is counted, so that the sum names this visit among all of the run. */
function visitOf(visits: Readonly<Record<string, number>>): number {
  return Object.values(visits).reduce((sum, count) => sum + count, 0);
}

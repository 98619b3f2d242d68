import { type AuditRecord, own, type RunSummary } from '@phasegate/core';
import type { AuditStore, RunStore } from './ports.ts';

/** Finds runs in which nothing happens, and says so once for each visit of a phase. */
export interface StuckRuns {
  candidates(): Promise<readonly RunSummary[]>;
  report(run: RunSummary): Promise<void>;
}

/** Looks for runs whose newest record is older than `afterMs`. Who is at work on a leased run is heard of, and is not stuck. */
export function createStuckRuns(parts: {
  readonly store: AuditStore & RunStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly afterMs: number;
}): StuckRuns {
  const { store, now, afterMs } = parts;
  // What was looked at: the run as it was then, and from when on it is worth looking again.
  const looked = new Map<string, { readonly updatedAt: string; readonly again: number }>();

  /** A long chain is read once for a run that has come to rest, then not again until that would say something new. */
  async function newestOf(
    run: string,
  ): Promise<{ readonly newest: AuditRecord | null; readonly said: number[] }> {
    let newest: AuditRecord | null = null;
    const said: number[] = [];
    for (;;) {
      const page: readonly AuditRecord[] = await store.history(run, { after: newest?.seq ?? 0, limit: PAGE });
      for (const record of page) {
        if (record.event === 'run_stuck') said.push(Number(own(record.data, 'visit')));
        newest = record;
      }
      if (page.length < PAGE) return { newest, said };
    }
  }

  return {
    async candidates() {
      const lists = await Promise.all(GOING_ON.map((status) => store.list({ status })));
      const runs = lists.flat();
      const present = new Set(runs.map(({ run }) => run));
      for (const run of looked.keys()) if (!present.has(run)) looked.delete(run);
      const time = now();
      return runs.filter(({ run, updatedAt }) => {
        if (Date.parse(updatedAt) > time - afterMs) return false;
        const last = looked.get(run);
        return last === undefined || last.updatedAt !== updatedAt || last.again <= time;
      });
    },

    async report({ run: runId, updatedAt }) {
      const [stored, { newest, said }] = await Promise.all([store.load(runId), newestOf(runId)]);
      const run = stored?.run;
      if (run === undefined || run.phase === null || newest === null) return;
      const visit = visitOf(run.visits);
      const since = Date.parse(newest.time);
      if (said.includes(visit)) {
        looked.set(runId, { updatedAt, again: Number.POSITIVE_INFINITY });
        return;
      }
      if (since > now() - afterMs) {
        looked.set(runId, { updatedAt, again: since + afterMs });
        return;
      }
      const data = {
        phase: run.phase,
        visit,
        status: run.status,
        holder: run.holder,
        since: newest.time,
        seconds: Math.floor((now() - since) / 1000),
      };
      const time = new Date(now()).toISOString();
      const draft = { time, principal: 'engine:phasegate', event: 'run_stuck' as const, data };
      // Only as long as nothing happened: whatever moves a run on raises its epoch.
      await store.note(runId, [draft], run.epoch);
      looked.set(runId, { updatedAt, again: Number.POSITIVE_INFINITY });
    },
  };
}

const GOING_ON = ['active', 'queued', 'waiting'] as const;
const PAGE = 1_000;

/** Every entry of a phase is counted, so that the sum names this visit among all of the run. */
function visitOf(visits: Readonly<Record<string, number>>): number {
  return Object.values(visits).reduce((sum, count) => sum + count, 0);
}

import type { AuditRecord, Run } from '@phasegate/core';
import type { RecordedRun, RecordingQuery, Store } from './ports.ts';

/** Runs of a store with their chains, one at a time. */
export async function* recordingsIn(
  store: Store,
  load: (runId: string) => Promise<Run>,
  { runs, workflow, limit }: RecordingQuery,
): AsyncGenerator<RecordedRun> {
  const wanted = {
    ...(workflow === undefined ? {} : { workflow }),
    limit: limit ?? Number.MAX_SAFE_INTEGER,
  };
  const ids = runs ?? (await store.list(wanted)).map(({ run }) => run);
  for (const id of ids) yield { run: await load(id), records: await chainOf(store, id) };
}

const PAGE = 1000;

async function chainOf(store: Store, runId: string): Promise<readonly AuditRecord[]> {
  const records: AuditRecord[] = [];
  for (;;) {
    const page = await store.history(runId, { after: records.at(-1)?.seq ?? 0, limit: PAGE });
    records.push(...page);
    if (page.length < PAGE) return records;
  }
}

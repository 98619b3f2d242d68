import { type AuditRecord, type Json, own, type Run, type Workflow } from '@phasegate/core';
import type { AuditStore, RecordedRun, RecordingQuery, RunStore } from './ports.ts';

/** Runs of a store with their chains, one at a time. */
export async function* recordingsIn(
  store: AuditStore & RunStore,
  load: (runId: string) => Promise<Run>,
  { runs, workflow, limit }: RecordingQuery,
): AsyncGenerator<RecordedRun> {
  const wanted = {
    ...(workflow === undefined ? {} : { workflow }),
    limit: limit ?? Number.MAX_SAFE_INTEGER,
  };
  const ids = runs ?? (await store.list(wanted)).map(({ run }) => run);
  for (const id of ids) {
    const { run, records } = await together(store, load, id);
    yield { run, startedWith: await startedWith(store, run, records), records };
  }
}

/** A run and its chain of one moment: anyone who works on it in between makes one of them too old for the other. */
async function together(
  store: AuditStore & RunStore,
  load: (runId: string) => Promise<Run>,
  id: string,
): Promise<Pick<RecordedRun, 'run' | 'records'>> {
  for (;;) {
    const before = await store.load(id);
    // It is not there, and that is said in one place.
    if (before === undefined) return { run: await load(id), records: [] };
    const records = await chainOf(store, id);
    const after = await store.load(id);
    if (after?.version === before.version) return { run: before.run, records };
  }
}

/** The blockers of every start of a workflow that was refused, by the closure of its files; those made no run. */
export async function refusedStartsIn(store: AuditStore, closure: string): Promise<readonly Json[]> {
  const refused = (await chainOf(store, null)).filter(
    ({ event, data }) => event === 'start_refused' && own(data, 'closure') === closure,
  );
  return refused.map(({ data }) => own(data, 'blockers') ?? []);
}

const PAGE = 1000;

/** All records of a run's chain, or the project's. */
export async function chainOf(store: AuditStore, runId: string | null): Promise<readonly AuditRecord[]> {
  const records: AuditRecord[] = [];
  for (;;) {
    const page = await store.history(runId, { after: records.at(-1)?.seq ?? 0, limit: PAGE });
    records.push(...page);
    if (page.length < PAGE) return records;
  }
}

/** A run that was migrated has another workflow now than its first records are about. */
async function startedWith(store: RunStore, run: Run, [first]: readonly AuditRecord[]): Promise<Workflow> {
  const hash = own(first?.data ?? null, 'workflowHash');
  if (typeof hash !== 'string' || hash === run.workflowHash) return run.workflow;
  return (await store.workflow(hash)) ?? run.workflow;
}

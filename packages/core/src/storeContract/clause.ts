import type { Run } from '../engine/run.ts';
import { PhasegateError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { StoredRun } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import { type Samples, sampleDraft, startedEvent } from './samples.ts';

/** One thing every store must do. */
export interface Clause {
  readonly name: string;
  body(store: Store, expect: Expect, samples: Samples): Promise<void>;
}

/** The few assertions the contract uses; those of vitest and jest fit. */
export type Expect = (value: unknown) => {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
};

/** Makes a run as the runtime does: with its first event, and noted on the project's chain. */
export function create(store: Store, run: Run): Promise<boolean> {
  const started = sampleDraft('run_started', startedEvent(run) as unknown as Json);
  return store.create(run, [started], [sampleDraft('run_started', { workflow: run.workflow.id })]);
}

/** What cannot be stored as it is must be refused to the one who brought it, as bad input. */
export async function refuses(expect: Expect, work: () => Promise<unknown>): Promise<void> {
  const code = await work().then(
    () => 'stored',
    (error: unknown) => (error instanceof PhasegateError ? error.code : error),
  );
  expect(code).toBe('request_invalid');
}

/** A run that must be there. */
export async function requireStored(store: Store, runId: string): Promise<StoredRun> {
  const stored = await store.load(runId);
  if (stored === undefined) throw new PhasegateError('run_unknown', `there is no run \`${runId}\``);
  return stored;
}

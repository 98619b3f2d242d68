import {
  type Phase,
  type Principal,
  phaseById,
  type Started,
  type StartRequest,
  type Submitted,
} from '@phasegate/core';
import type { CatalogWorkflow, HumanChoice, OpenProject, Store, UnlockedHuman } from '../runtime/ports.ts';
import type { Answering } from './answeredChecks.ts';

/** A real runtime on a store in memory with one workflow, for one test. */
export interface Bed {
  readonly open: OpenProject;
  readonly store: Store;
  readonly answering: Answering;
  close(): Promise<void>;
}

/** Makes beds; `main` puts the rooms together. */
export interface Beds {
  make(found: CatalogWorkflow, options: BedOptions): Promise<Bed>;
}

/** How a bed is made. */
export interface BedOptions {
  /** Whether checks that look at the world really do. */
  readonly real: boolean;
  /** Runs have the workflow exactly as it is given, also where it is otherwise made when a run starts. */
  readonly asGiven?: boolean;
}

/** Who holds the runs of tests. */
export const TESTER: Principal & { readonly kind: 'agent' } = { kind: 'agent', name: 'tester' };

const PASSPHRASE = 'only in memory';

/** Starts a run for the tester; where the author keeps that for humans, one starts it and the tester takes it up. */
export async function startOn({ open }: Bed, request: StartRequest): Promise<Started> {
  const started = await open.as(TESTER).start(request);
  if (started.view !== null) return started;
  if (started.verdict.blockers.some(({ nextAction }) => nextAction.act !== 'wait_for_human')) return started;
  const byHuman = await open.as({ kind: 'human', name: 'human' }).start(request);
  if (byHuman.view !== null) await open.as(TESTER).submit(byHuman.view.run, { kind: 'claim' });
  return byHuman;
}

/** Reads every task of the current phase that was not read yet, as an agent must before completing it. */
export async function readTasks({ open }: Bed, runId: string): Promise<void> {
  const run = await open.load(runId);
  const phase = phaseById(run.workflow, run.phase);
  if (run.status !== 'active' || phase === undefined) return;
  for (let task = 1; task <= phase.tasks.length; task++) {
    await open.as(TESTER).submit(runId, { kind: 'fetch_task', phase: phase.id, task });
  }
}

/** A human decides at the gate a run waits at. */
export async function decideGate(bed: Bed, runId: string, choice: HumanChoice): Promise<Submitted> {
  const { open } = bed;
  const run = await open.load(runId);
  const gate = (phaseById(run.workflow, run.phase) as Phase | undefined)?.humanGate;
  const human = await humanFor(bed, choice.as ?? gate?.approvers[0] ?? 'human');
  const card = await open.gateCard(runId);
  const { choose: option, input } = choice;
  const asked = { gate: card?.gate ?? gate?.id ?? 'none', option, shown: card?.shown ?? '' };
  return open.decide(runId, { ...asked, ...(input === null ? {} : { input }) }, human);
}

const humans = new WeakMap<Bed, Map<string, UnlockedHuman>>();

/** The human of that name, made when first needed: a run must have been started before, as it is trusted by nobody. */
export async function humanFor(bed: Bed, name: string): Promise<UnlockedHuman> {
  const known = humans.get(bed) ?? new Map<string, UnlockedHuman>();
  humans.set(bed, known);
  const found = known.get(name);
  if (found !== undefined) return found;
  await bed.open.humans.add(name, PASSPHRASE, [...known.values()][0] ?? null);
  const human = await bed.open.humans.unlock(name, PASSPHRASE);
  known.set(name, human);
  return human;
}

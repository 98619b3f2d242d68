import { type JsonObject, type Phase, type PhaseId, phaseById, type Run } from '@phasegate/core';
import type { ContractTest, ContractTests, ScriptedAgent } from '../runtime/ports.ts';
import { type Bed, decideGate, readTasks, TESTER } from './bed.ts';
import { cheatAtGate, PRANKS, wantsEvidence } from './pranks.ts';

/** No walk through a workflow that ends takes more. */
const MOST_STEPS = 500;

/** Who plays, and for which test. */
export interface Script {
  readonly agent: ScriptedAgent;
  readonly test: ContractTest;
  readonly tests: ContractTests;
  /** Where to stop working; null for the end of the run. */
  readonly until: PhaseId | null;
}

/** Lets a scripted agent work on a run until it ends or stays where it is; gives what was wrong, or null. */
export async function play(bed: Bed, runId: string, script: Script): Promise<string | null> {
  const seen = new Set<string>();
  for (let step = 0; step < MOST_STEPS; step++) {
    const run = await bed.open.load(runId);
    const phase = phaseById(run.workflow, run.phase);
    if (phase === undefined || run.status === 'escalated') return null;
    if (run.status === 'active' && phase.id === script.until) return null;
    const first = !seen.has(String(phase.id));
    if (run.status !== 'waiting') seen.add(String(phase.id));
    const wrong = await playOnce(bed, { run, phase, first, script });
    if (wrong !== null) return wrong;
  }
  return `the run did not end within ${MOST_STEPS} steps`;
}

interface Scene {
  readonly run: Run;
  readonly phase: Phase;
  /** The agent has not been in this phase before. */
  readonly first: boolean;
  readonly script: Script;
}

async function playOnce(bed: Bed, { run, phase, first, script }: Scene): Promise<string | null> {
  if (run.status === 'waiting') {
    const wrong = script.agent === 'cheating' ? await cheatAtGate(bed, run) : null;
    return wrong ?? choose(bed, { run, phase }, script.test);
  }
  const { demands, evidence: given } = script.tests;
  const wrong = first ? await PRANKS[script.agent](bed, { run, phase, tests: script.tests }) : null;
  if (wrong !== null) return wrong;
  // Where a workflow only advises, a prank is told off and moves the run all the same.
  const { epoch, status } = await bed.open.load(run.id);
  if (epoch !== run.epoch || status !== run.status) return null;
  const evidence = given[String(phase.id)];
  if (evidence === undefined && wantsEvidence(phase)) {
    return `there is no \`evidence\` for phase \`${phase.id}\`, so nobody can be honest about it`;
  }
  const refused = await completeHonestly(bed, run, evidence ?? {});
  const after = await bed.open.load(run.id);
  if (refused !== null && after.status !== 'escalated') return `phase \`${phase.id}\`: ${refused}`;
  if (refused === null && after.epoch === run.epoch && after.status === 'active') {
    return `phase \`${phase.id}\` was completed, and the run did not move`;
  }
  const gated = phase.humanGate !== null || demands.gates.includes(String(phase.id));
  if (refused === null && gated && after.status !== 'waiting') {
    return `phase \`${phase.id}\` was left without a human's decision`;
  }
  return null;
}

async function completeHonestly(bed: Bed, run: Run, evidence: JsonObject): Promise<string | null> {
  await readTasks(bed, run.id);
  const phase = run.phase as Phase['id'];
  const items = run.work.items === null ? [undefined] : Object.keys(run.work.items);
  for (const item of items) {
    const { verdict } = await bed.open
      .as(TESTER)
      .submit(run.id, { kind: 'complete', phase, evidence, ...(item === undefined ? {} : { item }) });
    if (!verdict.allowed)
      return verdict.blockers.map(({ code, message }) => `${code}: ${message}`).join('; ');
  }
  return null;
}

async function choose(
  bed: Bed,
  { run, phase }: Pick<Scene, 'run' | 'phase'>,
  test: ContractTest,
): Promise<string | null> {
  const gate = phase.humanGate;
  const choice = test.choose[String(phase.id)] ?? {
    choose: gate?.options[0]?.label ?? '',
    input: 'a note',
    as: null,
  };
  for (let vote = 0; vote < (gate?.quorum ?? 1); vote++) {
    const as = choice.as ?? gate?.approvers[vote] ?? `human-${vote + 1}`;
    const { verdict } = await decideGate(bed, run.id, { ...choice, as });
    if (!verdict.allowed) {
      return `the gate of \`${phase.id}\`: ${verdict.blockers.map(({ code, message }) => `${code}: ${message}`).join('; ')}`;
    }
  }
  return null;
}

import {
  GUARDED_PATHS,
  type JsonObject,
  type Phase,
  phaseById,
  type Run,
  type Verdict,
} from '@phasegate/core';
import type { ContractTest, ContractTests, ScriptedAgent } from '../runtime/ports.ts';
import { type Bed, decideGate, readTasks, TESTER } from './bed.ts';

/** No walk through a workflow that ends takes more. */
const MOST_STEPS = 500;

interface Script {
  readonly agent: ScriptedAgent;
  readonly test: ContractTest;
  readonly tests: ContractTests;
}

/** Lets a scripted agent work on a run until it ends or stays where it is; gives what was wrong, or null. */
export async function play(bed: Bed, runId: string, script: Script): Promise<string | null> {
  const seen = new Set<string>();
  for (let step = 0; step < MOST_STEPS; step++) {
    const run = await bed.open.load(runId);
    const phase = phaseById(run.workflow, run.phase);
    if (phase === undefined || run.status === 'escalated') return null;
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
  const wrong = first ? await PRANKS[script.agent](bed, run, phase) : null;
  if (wrong !== null) return wrong;
  const evidence = script.tests.evidence[String(phase.id)];
  if (evidence === undefined && wantsEvidence(phase)) {
    return `there is no \`evidence\` for phase \`${phase.id}\`, so nobody can be honest about it`;
  }
  const refused = await completeHonestly(bed, run, evidence ?? {});
  const after = await bed.open.load(run.id);
  if (refused !== null && after.status !== 'escalated') return `phase \`${phase.id}\`: ${refused}`;
  if (refused === null && after.epoch === run.epoch && after.status === 'active') {
    return `phase \`${phase.id}\` was completed, and the run did not move`;
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

type Prank = (bed: Bed, run: Run, phase: Phase) => Promise<string | null>;

const PRANKS: Readonly<Record<ScriptedAgent, Prank>> = {
  honest: async () => null,
  forgetful: async (bed, run, phase) => {
    const agent = bed.open.as(TESTER);
    const first = { kind: 'complete', phase: phase.id, ...itemOf(run) } as const;
    if (phase.tasks.length > 0) {
      const { verdict } = await agent.submit(run.id, { ...first, evidence: {} });
      if (passes(verdict)) return `phase \`${phase.id}\` was completed without reading its tasks`;
    }
    if (!wantsEvidence(phase)) return null;
    await readTasks(bed, run.id);
    const { verdict } = await agent.submit(run.id, { ...first, evidence: {} });
    return passes(verdict) ? `phase \`${phase.id}\` was completed without its evidence` : null;
  },
  cheating: async (bed, run, phase) => {
    const agent = bed.open.as(TESTER);
    const later = run.workflow.phases.find(
      ({ id }) => id !== phase.id && !run.completions.some((completion) => completion.phase === id),
    );
    if (later !== undefined) {
      const { verdict } = await agent.submit(run.id, { kind: 'complete', phase: later.id, evidence: {} });
      if (passes(verdict)) return `phase \`${later.id}\` was completed out of \`${phase.id}\``;
      if ((await agent.phase(run.id, later.id)).ok) return `\`${later.id}\` could be read in \`${phase.id}\``;
    }
    for (const tool of phase.tools.forbidden) {
      const verdict = await agent.judgeTool(run.id, { tool, input: { path: 'README.md', command: 'true' } });
      if (passes(verdict)) return `the forbidden tool \`${tool}\` was allowed in \`${phase.id}\``;
    }
    const guarded = (GUARDED_PATHS[0] ?? '.phasegate/**').replace(/\*.*$/, 'x');
    const written = await agent.judgeTool(run.id, { tool: 'write_files', input: { path: guarded } });
    return passes(written) ? `\`${guarded}\` could be written in \`${phase.id}\`` : null;
  },
};

async function cheatAtGate(bed: Bed, run: Run): Promise<string | null> {
  const card = await bed.open.gateCard(run.id);
  const option = phaseById(run.workflow, run.phase)?.humanGate?.options[0]?.label ?? '';
  if (card === null) return null;
  const decision = {
    kind: 'decide',
    gate: card.gate,
    option,
    shown: card.shown,
    signature: 'forged',
  } as const;
  const accepted = await bed.open
    .as(TESTER)
    .submit(run.id, decision)
    .then(({ verdict }) => passes(verdict))
    .catch(() => false);
  return accepted ? `an agent decided at the gate of \`${run.phase}\`` : null;
}

function passes(verdict: Verdict): boolean {
  return verdict.allowed && (verdict.wouldRefuse ?? []).length === 0;
}

function wantsEvidence({ evidence }: Phase): boolean {
  return evidence.artifacts.length > 0 || evidence.fields.some(({ rule }) => rule !== 'optional');
}

function itemOf(run: Run): { readonly item?: string } {
  const [item] = Object.keys(run.work.items ?? {});
  return item === undefined ? {} : { item };
}

import { PhasegateError, type Run, type Verdict, type Workflow } from '@phasegate/core';
import type {
  CatalogWorkflow,
  ContractStep,
  ContractTest,
  ContractTests,
  Expectation,
} from '../runtime/ports.ts';
import { type Bed, type Beds, decideGate, humanFor, readTasks, startOn, TESTER } from './bed.ts';
import { play } from './scriptedAgents.ts';

/** Plays one contract test on the real runtime; gives what was wrong, or null. */
export async function runContract(
  beds: Beds,
  { found, tests }: { readonly found: CatalogWorkflow; readonly tests: ContractTests },
  test: ContractTest,
): Promise<string | null> {
  const bed = await beds.make(found, { real: test.real });
  try {
    bed.answering.answers = test.checks;
    const wrong = await playOn(bed, { workflow: found.workflow, tests, test });
    const open = [...bed.answering.unanswered].map((label) => `\`${label}\``);
    // Said first: a refusal nobody asked for has its reason here.
    if (wrong === null || open.length === 0) return wrong;
    return `${wrong}; nobody answered ${open.join(', ')}: answer it under \`checks\`, or set \`real: true\``;
  } finally {
    await bed.close();
  }
}

interface Playing {
  readonly workflow: Workflow;
  readonly tests: ContractTests;
  readonly test: ContractTest;
}

async function playOn(bed: Bed, { workflow, tests, test }: Playing): Promise<string | null> {
  const { params, target } = test;
  const { capabilities = [] } = workflow;
  const request = { workflow: workflow.id, params, target, capabilities };
  const started =
    test.expect?.allowed === false ? await bed.open.as(TESTER).start(request) : await startOn(bed, request);
  if (started.view === null) {
    const { blockers } = started.verdict;
    const wanted = test.expect;
    if (
      wanted?.allowed === false &&
      (wanted.code === null || blockers.some(({ code }) => code === wanted.code))
    )
      return null;
    return `the run was not started: ${blockers.map(({ code, message }) => `${code}: ${message}`).join('; ')}`;
  }
  const id = started.view.run;
  const unplayed = await playAgent(bed, id, { tests, test });
  if (unplayed !== null) return `${tests.file}: ${unplayed}`;
  let verdict: Verdict = started.verdict;
  for (const step of test.steps) {
    bed.answering.answers = { ...test.checks, ...step.checks };
    verdict = await act(bed, id, step.act);
    const wrong = mismatch(step.expect, verdict, await bed.open.load(id));
    if (wrong !== null) return `${tests.file}:${step.line}: ${wrong}`;
  }
  const end = test.expect ?? (test.agent === null ? null : COMPLETED);
  const wrong = end === null ? null : mismatch(end, verdict, await bed.open.load(id));
  return wrong === null ? null : `${tests.file}: at the end of the test: ${wrong}`;
}

/** Lets the scripted agent of a test work, or an honest one up to where its steps begin. */
async function playAgent(
  bed: Bed,
  runId: string,
  { tests, test }: Pick<Playing, 'tests' | 'test'>,
): Promise<string | null> {
  const { agent, at: until } = test;
  if (agent === null && until === null) return null;
  const wrong = await play(bed, runId, { agent: agent ?? 'honest', test, tests, until });
  if (wrong !== null || until === null) return wrong;
  const { phase, status } = await bed.open.load(runId);
  if (phase === until && status === 'active') return null;
  return `an honest agent does not get to phase \`${until}\`: the run is \`${status}\` in phase \`${phase}\``;
}

/** Scripted agents go to the end where nothing else is said. */
const COMPLETED: Expectation = { allowed: null, code: null, phase: undefined, status: 'completed' };

async function act(bed: Bed, runId: string, act: ContractStep['act']): Promise<Verdict> {
  const { open } = bed;
  switch (act.who) {
    case 'agent': {
      if (act.readsTasks) await readTasks(bed, runId);
      const { complete: phase, evidence, outcome, reason, item } = act;
      const said = {
        ...(outcome === null ? {} : { outcome }),
        ...(reason === null ? {} : { reason }),
        ...(item === null ? {} : { item }),
      };
      return (await open.as(TESTER).submit(runId, { kind: 'complete', phase, evidence, ...said })).verdict;
    }
    case 'tool':
      return open.as(TESTER).judgeTool(runId, act.use);
    case 'human': {
      if ('choose' in act) return (await decideGate(bed, runId, act)).verdict;
      const { principal } = await humanFor(bed, 'human');
      return (await open.as(principal).submit(runId, { kind: 'resume', note: act.resume })).verdict;
    }
  }
}

function mismatch(expect: Expectation, verdict: Verdict, run: Run): string | null {
  const wrong: string[] = [];
  const refusal = blockersOf(verdict);
  const said = refusal.map(({ code, message }) => `${code}: ${message}`).join('; ');
  if (expect.allowed !== null && expect.allowed !== (refusal.length === 0)) {
    wrong.push(
      expect.allowed
        ? `expected it to be allowed, refused with ${said}`
        : 'expected a refusal, and it was allowed',
    );
  } else if (expect.code !== null && !refusal.some(({ code }) => code === expect.code)) {
    wrong.push(`expected \`${expect.code}\`, refused with ${said || 'nothing'}`);
  }
  if (expect.phase !== undefined && expect.phase !== run.phase) {
    wrong.push(`expected phase \`${expect.phase}\`, the run is in \`${run.phase}\``);
  }
  if (expect.status !== null && expect.status !== run.status) {
    const why = run.status === 'escalated' ? ` (${run.escalation.message})` : '';
    wrong.push(
      `expected status \`${expect.status}\`, the run is \`${run.status}\`${why} in phase \`${run.phase}\``,
    );
  }
  return wrong.length === 0 ? null : wrong.join('; ');
}

/** In permissive mode what would have been refused counts as refused. */
export function blockersOf(verdict: Verdict): readonly { readonly code: string; readonly message: string }[] {
  return verdict.allowed ? (verdict.wouldRefuse ?? []) : verdict.blockers;
}

/** A fault of the test itself, in words. */
export function faultText(error: unknown): string {
  if (error instanceof PhasegateError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

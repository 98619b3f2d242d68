import { type Coverage, type CoverageSource, type CoverageTally, startCoverage } from '@phasegate/proofs';
import type { CatalogWorkflow, TestRequest, TestResult } from '../../runtime/ports.ts';
import type { Invocation } from './command.ts';
import { working } from './showWork.ts';
import { stateHere } from './stateHere.ts';
import { usageError } from './usage.ts';

/** What is asked: where to look, and which runs count. */
export interface CoverageRequest {
  readonly found: CatalogWorkflow;
  readonly sources: readonly CoverageSource[];
  readonly allVersions: boolean;
}

/** What was seen, and the tests it was seen in. */
export interface Gathered {
  readonly coverage: Coverage;
  readonly tests: readonly TestResult[];
  /** Someone asked to stop before every test was played. */
  readonly interrupted: boolean;
}

/** Plays the contract tests of a workflow and reads its recorded runs. */
export async function gatherCoverage(invocation: Invocation, request: CoverageRequest): Promise<Gathered> {
  const { found, sources, allVersions } = request;
  const tally = startCoverage({ workflow: found.workflow, hash: found.hash, allVersions });
  const played = sources.includes('tests') ? await playTests(invocation, tally, found) : NONE;
  if (sources.includes('runs') && !played.interrupted) await readRuns(invocation, tally, found);
  return { coverage: tally.result(), ...played };
}

type Played = Pick<Gathered, 'tests' | 'interrupted'>;

const NONE: Played = { tests: [], interrupted: false };

/** What a test run tells a tally. Cases of single steps go around gates and checks, so only contract tests show what a run would meet. */
export function countingTests(tally: CoverageTally): Pick<TestRequest, 'observe' | 'observeRefusedStart'> {
  return {
    observe: ({ category, workflow, records }) => {
      if (category === 'contract') tally.add({ source: 'tests', workflow, records });
    },
    observeRefusedStart: (blockers, category) => {
      if (category === 'contract') tally.addRefusedStart('tests', blockers);
    },
  };
}

async function playTests(
  { machine, env, out, project }: Invocation,
  tally: CoverageTally,
  found: CatalogWorkflow,
): Promise<Played> {
  if (machine === null) throw usageError('nothing can be tested from here', 'try `--runs`');
  const signal = machine.stopping();
  const here = await project();
  let ran = 0;
  const tests = await working(out, 'playing contract tests', (tell) =>
    machine.testWorkflow({
      project: here,
      workflow: found.path,
      category: 'contract',
      filter: null,
      environment: env,
      signal,
      report: () => tell(`${++ran} played`),
      ...countingTests(tally),
    }),
  );
  return { tests, interrupted: signal.aborted };
}

async function readRuns(
  invocation: Invocation,
  tally: CoverageTally,
  { workflow, closure }: CatalogWorkflow,
): Promise<void> {
  const opened = await stateHere(invocation);
  if (opened === null) return;
  let read = 0;
  await working(invocation.out, 'reading recorded runs', async (tell) => {
    for await (const { startedWith, records } of opened.records.runs({ workflow: workflow.id })) {
      tally.add({ source: 'runs', workflow: startedWith, records });
      tell(`${++read} runs`);
    }
  });
  for (const blockers of await opened.records.refusedStarts(closure)) tally.addRefusedStart('runs', blockers);
}

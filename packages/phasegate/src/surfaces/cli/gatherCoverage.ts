import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Coverage, type CoverageSource, type CoverageTally, startCoverage } from '@phasegate/core';
import type { CatalogWorkflow, TestResult } from '../../runtime/ports.ts';
import type { Invocation } from './command.ts';
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
}

/** Plays the contract tests of a workflow and reads its recorded runs. */
export async function gatherCoverage(invocation: Invocation, request: CoverageRequest): Promise<Gathered> {
  const { found, sources, allVersions } = request;
  const tally = startCoverage({ workflow: found.workflow, hash: found.hash, allVersions });
  const tests = sources.includes('tests') ? await playTests(invocation, tally, found) : [];
  if (sources.includes('runs')) await readRuns(invocation, tally, found);
  return { coverage: tally.result(), tests };
}

/** Cases of single steps go around gates, checks and evidence, so only contract tests show what a run would meet. */
async function playTests(
  { machine, env, project }: Invocation,
  tally: CoverageTally,
  found: CatalogWorkflow,
): Promise<readonly TestResult[]> {
  if (machine === null) throw usageError('nothing can be tested from here', 'try `--runs`');
  return machine.testWorkflow({
    project: await project(),
    workflow: found.path,
    category: 'contract',
    filter: null,
    environment: env,
    signal: machine.stopping(),
    report: () => undefined,
    observe: (seen) => tally.add({ source: 'tests', ...seen }),
    observeRefusedStart: (blockers) => tally.addRefusedStart('tests', blockers),
  });
}

async function readRuns(
  { project, open }: Invocation,
  tally: CoverageTally,
  { workflow, closure }: CatalogWorkflow,
): Promise<void> {
  // Opening the state makes it; whoever only looks must leave nothing behind.
  if (!existsSync(join((await project()).stateDir, 'state.db'))) return;
  const opened = await open();
  for await (const { startedWith, records } of opened.recordings({ workflow: workflow.id })) {
    tally.add({ source: 'runs', workflow: startedWith, records });
  }
  for (const blockers of await opened.refusedStarts(closure)) tally.addRefusedStart('runs', blockers);
}

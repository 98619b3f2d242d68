import { realpath } from 'node:fs/promises';
import type { Frozen } from '@phasegate/core/engine';
import { compileGlob } from '@phasegate/core/model';
import type { CheckAnswer, CheckImplementation, CheckInput, RanProgram } from '../../runtime/ports.ts';
import { differenceFrom, freezeFiles } from '../frozenFiles.ts';
import { HELD_OPEN, type Order } from '../runOrder.ts';
import { type AskedOfTests, askedOfTests } from './askedOfTests.ts';
import { wrongWithCanary } from './judgeCanary.ts';
import { countsIn, type Expectation, judgeReport } from './judgeReport.ts';
import { plantCanary } from './plantCanary.ts';
import { readReport } from './readReport.ts';
import { inTree } from './testFiles.ts';
import type { TestReport } from './testReport.ts';
import { TESTS_PARAMETERS } from './testsParameters.ts';
import { withReport } from './withReport.ts';

/**
 * Runs the tests and reads the report that their runner makes for machines: red and green are what tests said, and not
 * how a program ended. In the workspace it is `observed`: the runner there is one that the agent can write.
 */
export const tests: CheckImplementation = {
  name: 'tests',
  summary: 'tests, run by the engine, fail or pass as their report for machines says',
  class: 'verified',
  verifiable: true,
  reads: 'workspace',
  parameters: TESTS_PARAMETERS,
  async run(input) {
    const wanted = askedOfTests(input.with);
    const held = await heldBack(wanted, input);
    if (held !== null) return held;
    const { answer, report } = await tryTests(wanted, input);
    // What would be refused anyway says why itself.
    if (!answer.passed) return answer;
    // What ran may have changed what it ran in.
    await input.room?.renew();
    const canary = await tryCanary(wanted, input, report);
    const tried = (canary?.ran ?? []).map((one): RanProgram => ({ ...one, canary: true }));
    const ran = [...tried, ...(answer.ran ?? [])];
    if (canary !== null && !canary.passed) return { ...canary, ran };
    if (wanted.freeze.length === 0) return { ...answer, ran };
    await input.room?.renew();
    return { ...answer, ran, frozen: await freezeFiles(wanted.freeze, input) };
  },
};

/** What is refused before anything is run: tests that were frozen in an earlier phase are not what they were. */
async function heldBack({ unchanged }: AskedOfTests, input: CheckInput): Promise<CheckAnswer | null> {
  if (unchanged === null) return null;
  const before = frozenIn(input, unchanged);
  if (before === null) {
    const reason = `phase \`${unchanged}\` froze no tests in this run, so nobody can say that they are unchanged`;
    return { passed: false, reason };
  }
  const difference = differenceFrom(before, await freezeFiles(before.globs, input));
  if (difference === null) return null;
  const reason = `the tests are not those of phase \`${unchanged}\`: ${difference}; put them back, or report that you are blocked and say what is wrong with them`;
  return { passed: false, reason };
}

function frozenIn({ record }: CheckInput, phase: string | number): Frozen | null {
  const established = record?.completion(phase)?.established ?? [];
  return established.findLast(({ frozen }) => frozen !== undefined)?.frozen ?? null;
}

/** A test that must fail, and did or did not; null where none was asked for, or none can be planted here. */
async function tryCanary(
  wanted: AskedOfTests,
  input: CheckInput,
  before: TestReport | undefined,
): Promise<CheckAnswer | null> {
  const { canary, format } = wanted;
  if (canary === null) return null;
  if (!('plant' in canary))
    return believed((await tryOnce({ order: canary, asked: RED, format }, input)).answer);
  // Nothing is planted in anybody's workspace.
  if (input.room === undefined) return null;
  const planted = await plantCanary(canary.plant, input);
  if (planted.length === 0) {
    return {
      passed: false,
      reason: `no test of a known runner is in ${canary.plant.map((glob) => `\`${glob}\``).join(', ')}, so no test that must fail can be planted there`,
    };
  }
  const { answer, report } = await tryOnce({ order: wanted.order, asked: RED, format }, input);
  if (!answer.passed || before === undefined || report === undefined)
    return believed({ ...answer, passed: false });
  const wrong = wrongWithCanary(before, report, planted);
  if (wrong === null) return answer;
  return believed({ ...answer, passed: false, reason: `\`${wanted.order.text}\` ${wrong}` });
}

const RED: Expectation = { expect: 'red', among: [], expected: [], skipped: true };

function believed(answer: CheckAnswer): CheckAnswer {
  if (answer.passed) return answer;
  const reason = `the test that must fail did not, so the runner cannot be believed: ${answer.reason}`;
  return { ...answer, code: 'runner_tampered', reason };
}

interface Try {
  readonly order: Order;
  readonly asked: Expectation;
  readonly format: AskedOfTests['format'];
}

async function tryTests(wanted: AskedOfTests, input: CheckInput): Promise<Tried> {
  const files = await changedFiles(wanted, input);
  if (files === null) {
    const reason =
      'nobody measured the workspace when the phase was entered, so it cannot be told which tests are new';
    return { answer: { passed: false, reason } };
  }
  if (wanted.changed.length > 0 && files.length === 0) {
    const globs = wanted.changed.map((glob) => `\`${glob}\``).join(', ');
    const reason = `no test was written in this phase: nothing that matches ${globs} changed`;
    return { answer: { passed: false, reason } };
  }
  return tryOnce({ ...wanted, asked: { ...wanted.asked, files } }, input);
}

/** The test files that changed in this phase; null where nobody can tell. */
async function changedFiles(
  { changed }: AskedOfTests,
  { record }: CheckInput,
): Promise<readonly string[] | null> {
  if (changed.length === 0) return [];
  const paths = await record?.changed();
  if (paths === undefined || paths === null) return null;
  const patterns = changed.map((glob) => compileGlob(glob));
  return paths.filter((path) => patterns.some((matches) => matches(path)));
}

/** An answer, and the report that it was read from. */
interface Tried {
  readonly answer: CheckAnswer;
  readonly report?: TestReport;
}

async function tryOnce({ order, asked, format }: Try, input: CheckInput): Promise<Tried> {
  const { outcome, report: written, isPrinted } = await withReport(order, input);
  if (outcome.kind === 'answered') return { answer: outcome.answer };
  const { code, heldOpen, refuse, ran } = outcome;
  const told = (answer: CheckAnswer, report?: TestReport): Tried => ({
    answer: { ...answer, ran: [counted(ran, report)] },
    ...(report === undefined ? {} : { report }),
  });
  if (heldOpen && isPrinted) return told(refuse(`exited with ${code} ${HELD_OPEN}`));
  if (written === null)
    return told(refuse(`exited with ${code}, and it wrote no report, or one that is too large`));
  const read = await readReport(written, format);
  if (!read.ok) return told(refuse(`exited with ${code}, and ${read.problem}`));
  const report = placedInTree(read.report, await realpath(input.workspace));
  const { passed, what } = judgeReport(report, code, asked);
  return told(passed ? { passed, reason: `\`${order.text}\` ${what}` } : refuse(what), report);
}

function counted(ran: RanProgram, report: TestReport | undefined): RanProgram {
  return report === undefined ? ran : { ...ran, counts: countsIn(report) };
}

/** Names of files as they are in the tree, wherever the copy lies in which they were run. */
function placedInTree({ tests: all, broken }: TestReport, root: string): TestReport {
  return {
    tests: all.map((test) => ({
      ...test,
      id: inTree(test.id, root),
      ...(test.file === undefined ? {} : { file: inTree(test.file, root) }),
    })),
    broken: broken.map((path) => inTree(path, root)),
  };
}

import { isOfFile } from './testFiles.ts';
import type { TestCase, TestReport } from './testReport.ts';

/** What is asked of a test run. */
export interface Expectation {
  readonly expect: 'red' | 'green';
  /** Tests that must be among the failing ones; of a green run, among the passing ones. */
  readonly among: readonly string[];
  /** Tests that must be in the report and not skipped. */
  readonly expected?: readonly string[];
  /** Files of which each must hold a test among the failing, or the passing; absent: not asked. */
  readonly files?: readonly string[] | undefined;
  /** Whether a green run may have skipped tests. */
  readonly skipped: boolean;
}

/** How many tests came to what. */
export function countsIn({ tests, broken }: TestReport): Readonly<Record<string, number>> {
  const count = (outcome: TestReport['tests'][number]['outcome']) =>
    tests.filter((test) => test.outcome === outcome).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    errored: count('errored'),
    broken: broken.length,
  };
}

/** Judged: whether it is what was asked, and in what words. */
export interface JudgedReport {
  readonly passed: boolean;
  /** Goes on from the command: "… reports that 2 of 5 tests fail". */
  readonly what: string;
}

/** Judges a report with the exit code that came with it: both have to say the same. */
export function judgeReport(report: TestReport, code: number, asked: Expectation): JudgedReport {
  const { tests, broken } = report;
  const { passed, failed, skipped, errored } = countsIn(report) as Record<TestOutcome, number>;
  const no = (what: string): JudgedReport => ({ passed: false, what });
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped${errored === 0 ? '' : `, ${errored} not begun`}`;
  if (broken.length > 0) {
    const way =
      asked.expect === 'red' ? '; import what does not exist yet inside the test that needs it' : '';
    return no(
      `could not load ${named(broken)}, which is a broken build and not a failing test (${counts})${way}`,
    );
  }
  if (tests.length === 0) return no('ran no test at all');
  if (passed + failed + errored === 0) return no(`skipped every test (${skipped})`);
  const red = failed > 0 || errored > 0;
  if (red === (code === 0)) {
    return no(`exited with ${code}, and its report says otherwise: ${counts}`);
  }
  if (asked.expect === 'red') {
    if (failed === 0 && errored > 0) return no(`came to no assertion: ${counts}`);
    if (failed === 0) return no(`has no failing test: ${counts}`);
  } else {
    if (red)
      return no(`has tests that do not pass: ${named(namesOf(report, ['failed', 'errored']))} (${counts})`);
    if (passed === 0) return no(`has no passing test: ${counts}`);
    if (skipped > 0 && !asked.skipped) {
      return no(`skipped ${named(namesOf(report, ['skipped']))} (${counts})`);
    }
  }
  const wanted = asked.expect === 'red' ? 'failed' : 'passed';
  const found = namesOf(report, [wanted]);
  const missing = asked.among.filter((name) => !found.some((id) => isNamed(id, name)));
  if (missing.length > 0) return no(`has ${named(missing)} not among the ${wanted} tests (${counts})`);
  const lacking = lackingIn(report, asked, wanted);
  if (lacking !== null) return no(`${lacking} (${counts})`);
  return { passed: true, what: `is ${asked.expect}: ${counts}` };
}

/** The first few names, for an answer. */
export function named(names: readonly string[]): string {
  const told = names
    .slice(0, MOST_NAMED)
    .map((name) => `\`${name.length > 120 ? `${name.slice(0, 120)}…` : name}\``);
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${told.join(', ')}${more}`;
}

const MOST_NAMED = 5;

/** What is asked of single tests and files, and is not so; null where all of it is. */
function lackingIn(
  report: TestReport,
  { expected = [], files = [] }: Expectation,
  wanted: 'failed' | 'passed',
): string | null {
  const ran = namesOf(report, ['passed', 'failed', 'errored']);
  const silent = expected.filter((name) => !ran.some((id) => isNamed(id, name)));
  if (silent.length > 0) return `does not report ${named(silent)}`;
  const without = files.filter(
    (path) => !report.tests.some((test) => test.outcome === wanted && isOfFile(test, path)),
  );
  if (without.length === 0) return null;
  return `has no ${wanted === 'failed' ? 'failing' : 'passing'} test in ${named(without)}`;
}

type TestOutcome = TestCase['outcome'];

function namesOf(report: TestReport, outcomes: readonly string[]): readonly string[] {
  return report.tests.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id);
}

/** By its whole name, or by the end of it that begins at one of its parts. */
function isNamed(id: string, name: string): boolean {
  return id === name || id.endsWith(` > ${name}`);
}

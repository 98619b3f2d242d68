import type { TestReport } from './testReport.ts';

/** What is asked of a test run. */
export interface Expectation {
  readonly expect: 'red' | 'green';
  /** Tests that must be among the failing ones; of a green run, among the passing ones. */
  readonly among: readonly string[];
  /** Whether a green run may have skipped tests. */
  readonly skipped: boolean;
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
  const count = (outcome: TestReport['tests'][number]['outcome']) =>
    tests.filter((test) => test.outcome === outcome).length;
  const [passed, failed, skipped, errored] = (['passed', 'failed', 'skipped', 'errored'] as const).map(
    count,
  ) as [number, number, number, number];
  const no = (what: string): JudgedReport => ({ passed: false, what });
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped${errored === 0 ? '' : `, ${errored} not begun`}`;
  if (broken.length > 0) {
    return no(`could not load ${named(broken)}, which is a broken build and not a failing test (${counts})`);
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
  return { passed: true, what: `is ${asked.expect}: ${counts}` };
}

function namesOf(report: TestReport, outcomes: readonly string[]): readonly string[] {
  return report.tests.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id);
}

/** By its whole name, or by the end of it that begins at one of its parts. */
function isNamed(id: string, name: string): boolean {
  return id === name || id.endsWith(` > ${name}`);
}

const MOST_NAMED = 5;

function named(names: readonly string[]): string {
  const told = names
    .slice(0, MOST_NAMED)
    .map((name) => `\`${name.length > 120 ? `${name.slice(0, 120)}…` : name}\``);
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${told.join(', ')}${more}`;
}

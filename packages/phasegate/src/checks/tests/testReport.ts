/** What a test runner said of one run, whatever its format. */
export interface TestReport {
  readonly tests: readonly TestCase[];
  /** Files or packages that could not be loaded or built: nothing in them was tried. */
  readonly broken: readonly string[];
}

/** One test, by the name its runner gives it. */
export interface TestCase {
  /** Its names from the outside in, joined with ` > `; behind its file or package where the runner tells it. */
  readonly id: string;
  /** `errored`: it did not come to its assertions, such as where its setup threw. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'errored';
  /** Where it is, as far as its runner tells: a file, a module or a package. */
  readonly file?: string;
}

/** What was read: a report, or why it cannot be one. */
export type ReadReport =
  | { readonly ok: true; readonly report: TestReport }
  | { readonly ok: false; readonly problem: string };

/** A report in one piece of output, or null where there is none of its kind in it. */
export type ReportReader = (output: string) => ReadReport | null;

/** So many tests are read; a run with more says something else than a person would look at. */
export const MOST_TESTS = 200_000;

/** The answer of a reader that found something it cannot take as a report. */
export function unreadable(problem: string): ReadReport {
  return { ok: false, problem };
}

/** The name of a test from the names around it. */
export function idOf(names: readonly (string | null | undefined)[]): string {
  return names.filter((name) => name !== null && name !== undefined && name !== '').join(' > ');
}

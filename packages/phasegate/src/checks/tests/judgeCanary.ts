import { named } from './judgeReport.ts';
import type { Planted } from './plantCanary.ts';
import { isOfFile } from './testFiles.ts';
import type { TestCase, TestReport } from './testReport.ts';

/**
 * What is wrong with a run in which tests were planted that must fail, beside the run that is to be believed; null where
 * nothing is. Every planted test of a file that was run has failed, and every other test came to what it had come to
 * before: code that sees that tests were planted, and behaves then, is another code than the one that was judged.
 */
export function wrongWithCanary(
  before: TestReport,
  after: TestReport,
  planted: readonly Planted[],
): string | null {
  const titles = new Set(planted.flatMap((file) => file.titles));
  const isPlanted = ({ id }: TestCase) => titles.has(titleOf(id));
  const found = after.tests.filter(isPlanted);
  const passed = found.filter(({ outcome }) => outcome !== 'failed').map(({ id }) => id);
  if (passed.length > 0) return `lets ${named(passed)} pass`;
  const failed = new Set(found.map(({ id }) => titleOf(id)));
  const silent = planted.filter(
    (file) => !file.titles.every((title) => failed.has(title)) && wasRun(file, before),
  );
  if (failed.size === 0) return 'does not report the tests that must fail';
  if (silent.length > 0)
    return `does not report the tests that must fail in ${named(silent.map(({ path }) => path))}`;
  const others = differing(
    before.tests,
    after.tests.filter((test) => !isPlanted(test)),
  );
  if (others.length === 0) return null;
  return `came to something else for ${named(others)} when a test that must fail was beside it (tests that come to the same each time, and a runner that does not stop at the first failure, are needed here)`;
}

/** Whether a test of that file was reported: as its runner says whose a test is, or else by its title in the file. */
function wasRun({ path, text }: Planted, { tests }: TestReport): boolean {
  return tests.some((test) => {
    if (test.file !== undefined && test.file !== '') return isOfFile(test, path);
    const title = titleOf(test.id);
    return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
  });
}

function titleOf(id: string): string {
  const at = id.lastIndexOf(' > ');
  return at === -1 ? id : id.slice(at + ' > '.length);
}

/** The tests that came to one thing here and to another there, or are only in one of both. */
function differing(before: readonly TestCase[], after: readonly TestCase[]): readonly string[] {
  const counts = new Map<string, number>();
  const add = ({ id, outcome }: TestCase, by: number) => {
    const key = `${outcome} ${id}`;
    counts.set(key, (counts.get(key) ?? 0) + by);
  };
  for (const test of before) add(test, 1);
  for (const test of after) add(test, -1);
  const keys = [...counts].filter(([, count]) => count !== 0).map(([key]) => key);
  return [...new Set(keys.map((key) => key.slice(key.indexOf(' ') + 1)))];
}

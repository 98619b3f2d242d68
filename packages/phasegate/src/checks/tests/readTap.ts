import { idOf, MOST_TESTS, type ReadReport, type TestCase, unreadable } from './testReport.ts';

/** Reads the Test Anything Protocol, with the nested tests and the notes of `node --test --test-reporter=tap`. */
export function readTap(output: string): ReadReport | null {
  const lines = output.split(/\r?\n/);
  const heads = lines.filter((line) => /^TAP version 1[34]\s*$/.test(line)).length;
  if (heads === 0) return null;
  if (heads > 1) return unreadable('it wrote more than one report');
  if (lines.filter((line) => POINT.test(line)).length > MOST_TESTS)
    return unreadable(`its report has more than ${MOST_TESTS} tests`);
  const broken: string[] = [];
  const waiting: Waiting = new Map();
  let planned: number | null = null;
  let points = 0;
  // INVARIANT: no line is read more than a few times, as an agent may have written it and nothing else goes on meanwhile.
  for (const [at, line] of lines.entries()) {
    if (line.startsWith('Bail out!')) return unreadable('it bailed out');
    const plan = /^1\.\.(\d+)/.exec(line);
    if (plan !== null) planned = Number(plan[1]);
    const point = POINT.exec(line);
    if (point === null) continue;
    const [, indent = '', verdict = '', words = ''] = point;
    const depth = indent.length / 4;
    if (depth === 0) points += 1;
    const directive = /(?<!\\)# ?(SKIP|TODO)\b/i.exec(words);
    const name = words
      .slice(0, directive?.index ?? undefined)
      .replaceAll('\\#', '#')
      .trim();
    const isAround = waiting.has(depth + 1);
    const notes = notesBehind(lines, at, indent.length);
    settle(waiting, depth + 1, name);
    if (isAround || notes.includes("type: 'suite'")) continue;
    // A file that ended with an error code of its own came to no test.
    if (verdict === 'not ok' && /^exitCode: \d/m.test(notes)) broken.push(name);
    // Node reports a file without a test in it, or that ended before its tests, by its name, as if it were one.
    else if (!FILE.test(name))
      wait(waiting, depth, [
        { names: [name], outcome: outcomeOf(verdict, directive !== null), file: fileIn(notes) },
      ]);
  }
  if (planned === null || planned !== points) {
    return unreadable(`its report is cut off: ${points} results of ${planned ?? 'an unknown number'}`);
  }
  return { ok: true, report: { tests: testsIn(waiting), broken } };
}

const POINT = /^( *)(ok|not ok) \d+(?: - )?(.*)$/;
const FILE = /(?:^|[\\/])[^\\/\s]+\.[cm]?[jt]sx?$/;

/** Results by their depth, whose outer names are not known yet: they come behind them. */
type Waiting = Map<number, Result[]>;

interface Result {
  /** From the inside out. */
  readonly names: string[];
  readonly outcome: TestCase['outcome'];
  readonly file: string | null;
}

function testsIn(waiting: Waiting): readonly TestCase[] {
  return [...waiting.values()].flat().map(({ names, outcome, file }) => ({
    id: idOf(names.toReversed()),
    outcome,
    ...(file === null ? {} : { file }),
  }));
}

/** Node says of a test that failed where it is. */
function fileIn(notes: string): string | null {
  return /^location: '(.+):\d+:\d+'$/m.exec(notes)?.[1] ?? null;
}

/** What is inside of a result has its name too, and stands where it stands. */
function settle(waiting: Waiting, depth: number, name: string): void {
  const inside = waiting.get(depth) ?? [];
  waiting.delete(depth);
  if (name !== '') for (const { names } of inside) names.push(name);
  if (inside.length > 0) wait(waiting, depth - 1, inside);
}

function wait(waiting: Waiting, depth: number, results: Result[]): void {
  const before = waiting.get(depth);
  if (before === undefined) waiting.set(depth, results);
  else for (const result of results) before.push(result);
}

function outcomeOf(verdict: string, isPassedOver: boolean): TestCase['outcome'] {
  if (isPassedOver) return 'skipped';
  return verdict === 'ok' ? 'passed' : 'failed';
}

/** The block of notes that follows a result, without its indentation. */
function notesBehind(lines: readonly string[], at: number, indent: number): string {
  if (lines[at + 1]?.trim() !== '---') return '';
  const notes: string[] = [];
  for (const line of lines.slice(at + 2, at + 2 + MOST_NOTES)) {
    if (line.trim() === '...') break;
    notes.push(line.slice(indent + 2));
  }
  return notes.join('\n');
}

/** Where a test is stands in the first lines; what it said may be long. */
const MOST_NOTES = 200;

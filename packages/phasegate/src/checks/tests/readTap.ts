import { idOf, type ReadReport, type TestCase, unreadable } from './testReport.ts';

/** Reads the Test Anything Protocol, with the nested tests and the notes of `node --test --test-reporter=tap`. */
export function readTap(output: string): ReadReport | null {
  const lines = output.split(/\r?\n/);
  const heads = lines.filter((line) => /^TAP version 1[34]\s*$/.test(line)).length;
  if (heads === 0) return null;
  if (heads > 1) return unreadable('it wrote more than one report');
  const tests: TestCase[] = [];
  const broken: string[] = [];
  const waiting: Waiting[] = [];
  let planned: number | null = null;
  let points = 0;
  for (const [at, line] of lines.entries()) {
    if (line.startsWith('Bail out!')) return unreadable('it bailed out');
    const plan = /^1\.\.(\d+)/.exec(line);
    if (plan !== null) planned = Number(plan[1]);
    const point = /^( *)(ok|not ok) \d+(?: - )?(.*)$/.exec(line);
    if (point === null) continue;
    const [, indent = '', verdict = '', words = ''] = point;
    const depth = indent.length / 4;
    if (depth === 0) points += 1;
    const directive = /(?<!\\)# ?(SKIP|TODO)\b/i.exec(words);
    const name = words
      .slice(0, directive?.index ?? undefined)
      .replaceAll('\\#', '#')
      .trim();
    const inside = waiting.filter((one) => one.depth === depth + 1);
    const notes = notesBehind(lines, at, indent.length);
    settle(waiting, depth + 1, name, tests);
    if (inside.length > 0 || notes.includes("type: 'suite'")) continue;
    // A file that ended with an error code of its own came to no test.
    if (verdict === 'not ok' && /^exitCode: \d/m.test(notes)) broken.push(name);
    // Node reports a file without a test in it, or that ended before its tests, by its name, as if it were one.
    else if (!FILE.test(name))
      waiting.push({
        depth,
        names: [name],
        outcome: outcomeOf(verdict, directive !== null),
        file: fileIn(notes),
      });
  }
  settle(waiting, 0, '', tests);
  if (planned === null || planned !== points) {
    return unreadable(`its report is cut off: ${points} results of ${planned ?? 'an unknown number'}`);
  }
  return { ok: true, report: { tests, broken } };
}

const FILE = /(?:^|[\\/])[^\\/\s]+\.[cm]?[jt]sx?$/;

/** A result whose outer names are not known yet: they come behind it. */
interface Waiting {
  depth: number;
  names: readonly string[];
  readonly outcome: TestCase['outcome'];
  readonly file: string | null;
}

/** Node says of a test that failed where it is. */
function fileIn(notes: string): string | null {
  return /^location: '(.+):\d+:\d+'$/m.exec(notes)?.[1] ?? null;
}

function settle(waiting: Waiting[], depth: number, name: string, tests: TestCase[]): void {
  for (const one of waiting) {
    if (one.depth !== depth) continue;
    one.depth -= 1;
    if (name !== '') one.names = [name, ...one.names];
  }
  if (depth > 0) return;
  for (const { names, outcome, file } of waiting)
    tests.push({ id: idOf(names), outcome, ...(file === null ? {} : { file }) });
  waiting.length = 0;
}

function outcomeOf(verdict: string, isPassedOver: boolean): TestCase['outcome'] {
  if (isPassedOver) return 'skipped';
  return verdict === 'ok' ? 'passed' : 'failed';
}

/** The block of notes that follows a result, without its indentation. */
function notesBehind(lines: readonly string[], at: number, indent: number): string {
  if (lines[at + 1]?.trim() !== '---') return '';
  const end = lines.findIndex((line, place) => place > at + 1 && line.trim() === '...');
  return lines
    .slice(at + 2, end === -1 ? undefined : end)
    .map((line) => line.slice(indent + 2))
    .join('\n');
}

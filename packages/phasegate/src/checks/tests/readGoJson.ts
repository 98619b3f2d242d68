import { isJsonObject, type Json, own } from '@phasegate/core';
import { idOf, type ReadReport, type TestCase, unreadable } from './testReport.ts';

/** Reads what `go test -json` prints: an event on every line, and plain words where a package was not built. */
export function readGoJson(output: string): ReadReport | null {
  const outcomes = new Map<string, TestCase['outcome'] | null>();
  const broken: string[] = [];
  const packages = new Map<string, boolean>();
  let events = 0;
  for (const line of output.split('\n')) {
    const built = /^FAIL\s+(\S+) \[(?:build|setup) failed\]/.exec(line);
    if (built?.[1] !== undefined) broken.push(built[1]);
    const event = eventIn(line);
    if (event === null) continue;
    events += 1;
    const action = own(event, 'Action');
    const name = textOf(own(event, 'Package'));
    const test = textOf(own(event, 'Test'));
    if (action === 'build-fail') broken.push(textOf(own(event, 'ImportPath')) || name);
    if (test === '') {
      // A package that failed although none of its tests did could not be built, or ended before its end.
      if (action === 'fail') packages.set(name, true);
      continue;
    }
    const outcome = OUTCOMES.get(String(action));
    if (outcome !== undefined) outcomes.set(idOf([name, ...test.split('/')]), outcome);
  }
  if (events === 0 && broken.length === 0) return null;
  const unfinished = [...outcomes].filter(([, outcome]) => outcome === null);
  if (unfinished[0] !== undefined) return unreadable(`it ended while \`${unfinished[0][0]}\` was under way`);
  const tests = [...outcomes].map(([id, outcome]) => ({
    id,
    outcome: outcome ?? 'errored',
    file: id.slice(0, id.indexOf(' > ')),
  }));
  const failing = new Set(tests.filter(({ outcome }) => outcome === 'failed').map(({ file }) => file));
  for (const name of packages.keys()) if (!failing.has(name)) broken.push(name);
  return { ok: true, report: { tests, broken: [...new Set(broken)] } };
}

/** Null while it is under way. */
const OUTCOMES: ReadonlyMap<string, TestCase['outcome'] | null> = new Map([
  ['run', null],
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['skip', 'skipped'],
]);

function eventIn(line: string): Json | null {
  if (!line.startsWith('{')) return null;
  try {
    const value = JSON.parse(line) as Json;
    return isJsonObject(value) && typeof own(value, 'Action') === 'string' ? value : null;
  } catch {
    return null;
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

import { isJsonObject, type Json, own } from '@phasegate/core';
import { idOf, type ReadReport, type TestCase, unreadable } from './testReport.ts';

/** Reads what `vitest --reporter=json` and `jest --json` write, wherever it stands in the output. */
export function readJestJson(output: string): ReadReport | null {
  const starts: number[] = [];
  for (const { index } of output.matchAll(/\{"num[A-Z]\w{1,60}":/g)) {
    // Each is read to its end, and nothing else goes on meanwhile.
    if (starts.push(index) > MOST_STARTS) return unreadable('it wrote more than one report');
  }
  if (starts.length === 0) return null;
  const [first, second] = starts.flatMap((start) => objectAt(output, start) ?? []);
  if (first === undefined) return unreadable('its JSON report is cut off');
  if (second !== undefined) return unreadable('it wrote more than one report');
  return reportFrom(first);
}

/** A report has one, and what tests print may look like one. */
const MOST_STARTS = 20;

function reportFrom(value: Json): ReadReport {
  const files = own(value, 'testResults');
  if (!Array.isArray(files)) return unreadable('its JSON report has no `testResults`');
  const broken: string[] = [];
  const tests = files.flatMap((file): readonly TestCase[] => {
    const name = textIn(file, 'name');
    const cases = own(file as Json, 'assertionResults');
    const list = Array.isArray(cases) ? cases : [];
    // A file that failed without a failed test in it was not loaded.
    const failed = list.some((one) => textIn(one, 'status') === 'failed');
    if (textIn(file, 'status') === 'failed' && !failed) broken.push(name);
    return list.map((one) => ({
      id: idOf([name, ...titlesOf(one)]),
      outcome: outcomeOf(textIn(one, 'status')),
      file: name,
    }));
  });
  const told = ['numTotalTests', 'numFailedTests', 'numPassedTests'].map((key) => own(value, key));
  const counted = [
    tests.length,
    tests.filter(({ outcome }) => outcome === 'failed').length,
    tests.filter(({ outcome }) => outcome === 'passed').length,
  ];
  if (told.some((number, at) => number !== counted[at])) {
    return unreadable(
      `its report counts ${told.join(', ')} tests, failed and passed, and lists ${counted.join(', ')}`,
    );
  }
  return { ok: true, report: { tests, broken } };
}

function titlesOf(one: Json): readonly string[] {
  const around = own(one, 'ancestorTitles');
  const titles = Array.isArray(around) ? around.filter((title) => typeof title === 'string') : [];
  return [...titles, textIn(one, 'title')];
}

function outcomeOf(status: string): TestCase['outcome'] {
  if (status === 'passed' || status === 'failed') return status;
  return ['skipped', 'pending', 'todo', 'disabled', 'focused'].includes(status) ? 'skipped' : 'errored';
}

function textIn(value: Json | undefined, key: string): string {
  const text = isJsonObject(value) ? own(value, key) : undefined;
  return typeof text === 'string' ? text : '';
}

/** The JSON object that begins there; null where it does not end. */
function objectAt(text: string, start: number): Json | null {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return parsed(text.slice(start, at + 1));
  }
  return null;
}

function parsed(text: string): Json | null {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

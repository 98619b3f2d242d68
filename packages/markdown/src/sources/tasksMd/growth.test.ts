import { expect, test } from 'vitest';
import { readDependencies } from './dependencies.ts';
import { outlineByHeading } from './outlineByHeading.ts';
import { parseTasksMd } from './parseTasksMd.ts';
import { divide } from './phaseDraft.ts';
import { type Line, readLines } from './readLines.ts';

const LOOKING = { headings: new Set<string>(), majors: false, ownCriteria: false };

test.each([
  [
    'phases of one id below a long one',
    `## Phase 1: a\n${'a\n'.repeat(1000)}${'## Phase 1: a\n'.repeat(1000)}`,
  ],
  ['bold phases of one id', '**Phase 1: a**\n'.repeat(2000)],
  ['bold phases twice', `${boldPhases(1000)}# T\n${boldPhases(1000)}`],
])('finding phases costs what the document is long: %s', (_, text) => {
  const { lines, reads } = counted(text);
  outlineByHeading(lines, new Set(), false);
  expect(reads()).toBeLessThan(100 * lines.length);
});

test('dividing a task costs what its body is long', () => {
  const { lines, reads } = counted(
    `- [ ] 1.1 a\n${'  b\n'.repeat(1000)}Acceptance Criteria:\n${'- c\n'.repeat(1000)}`,
  );
  const { tasks } = divide(lines, LOOKING, ['numbered']);
  expect(tasks[0]?.body).toHaveLength(2002);
  expect(reads()).toBeLessThan(100 * lines.length);
});

test('a range of tasks is found without looking through all of them', () => {
  const ids = Array.from({ length: 5000 }, (_, index) => `1.${index}`);
  const { list, reads } = countedReads(ids);
  const known = {
    tasks: new Map(ids.map((id) => [id, id])),
    order: list,
    places: new Map(ids.map((id, index) => [id, index])),
    phases: new Map<string, string>(),
  };
  expect(readDependencies('1.4990-1.4992', known).ids).toEqual(['1.4990', '1.4991', '1.4992']);
  expect(reads()).toBeLessThan(10);
});

test('tasks over others are told apart, however many', () => {
  const [phase] = parseTasksMd(`# T\n\n${'- [ ] 1.0 a\n  - [ ] 1.1 b\n'.repeat(2000)}`).phases;
  expect(phase?.tasks).toHaveLength(2000);
});

function boldPhases(count: number): string {
  return Array.from({ length: count }, (_, index) => `**Phase ${index}: a**\n`).join('');
}

/** The lines of a text, and how often one of them was looked at. */
function counted(text: string): { readonly lines: readonly Line[]; reads(): number } {
  let reads = 0;
  const lines = readLines(text).map(
    (line) =>
      new Proxy(line, {
        get(target, key, receiver) {
          reads++;
          return Reflect.get(target, key, receiver);
        },
      }),
  );
  return { lines, reads: () => reads };
}

function countedReads(items: readonly string[]): { readonly list: readonly string[]; reads(): number } {
  let reads = 0;
  const list = new Proxy(items, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  return { list, reads: () => reads };
}

import { expect, test } from 'vitest';
import { defineWorkflow } from './defineWorkflow.ts';
import type { GateDraft, PhaseDraft } from './draft.ts';
import { firstProblems, MOST_PROBLEMS } from './mostProblems.ts';
import { suggest } from './suggest.ts';

const many = Array.from({ length: 20_000 }, (_, index) => index);
const problem = (line: number, severity: 'error' | 'note') => ({
  ...{ file: 'a', line, column: 1, code: 'x', message: `${line}`, severity },
});

test('of thousands of problems the first are told in order, errors before notes, with how many more there are', () => {
  const found = many.map((line) => problem(line, line % 2 === 0 ? 'note' : 'error'));

  const told = firstProblems(found, { errors: 5, notes: 7 });

  expect(told.slice(0, -1)).toEqual(found.filter(({ severity }) => severity === 'error').slice(0, 1000));
  expect(told.at(-1)).toMatchObject({ code: 'more_problems', severity: 'error', line: 1999 });
  expect(told.at(-1)?.message).toBe('19012 more problems are left out; correct those above first');
});

test('few problems stay as they are, and notes alone make nothing invalid', () => {
  const few = many.slice(0, 1000).map((line) => problem(line, 'note'));

  expect(firstProblems(few)).toBe(few);
  expect(firstProblems([...few, problem(1000, 'note')]).at(-1)).toMatchObject({
    message: 'one more problem is left out; correct those above first',
    severity: 'note',
  });
});

test('a workflow with thousands of unused gates and a mistake keeps the mistake', () => {
  const gates = Object.fromEntries(many.map((index) => [`G${index}`, {}]));

  const defined = defineWorkflow(
    { id: 'x', phases: [{ id: 'A', next: { to: 'B' } }], gates },
    { checks: {} },
  );

  expect(defined).toMatchObject({ ok: false, leftOut: { errors: 0, notes: 19_000 } });
  const problems = defined.ok ? [] : defined.problems;
  expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([{ code: 'unknown_phase' }]);
  expect(problems).toHaveLength(MOST_PROBLEMS + 1);
});

test('of thousands of mistyped names each is looked for among the known ones only while it is told', () => {
  let asked = 0;
  const gates = new Proxy(Object.fromEntries(many.slice(0, 20).map((index) => [`G${index}`, {}])), {
    ownKeys: (target) => {
      asked += 1;
      return Reflect.ownKeys(target);
    },
  });
  const phases: readonly PhaseDraft[] = [{ id: 'A', gates: many.map((index) => `H${index}`) }];

  const defined = defineWorkflow({ id: 'x', phases, gates }, { checks: {} });

  expect(defined).toMatchObject({ ok: false, leftOut: { errors: 19_000 } });
  expect(asked).toBeLessThan(MOST_PROBLEMS + 10);
});

test('a hint looks at no more words, and at none that is longer, than anyone mistypes', () => {
  let looked = 0;
  function* words() {
    for (const index of many) {
      looked += 1;
      yield `word${index}`;
    }
  }

  expect(suggest('wird5', words())).toBe('word5');
  expect(looked).toBeLessThan(1100);
  expect(suggest(`${'a'.repeat(200)}b`, [`${'a'.repeat(200)}c`])).toBeNull();
});

test('gates that every phase names and groups that every phase uses are bounded', () => {
  const blockers = many.map(() => ({ check: 'c' }));
  const options = many.map((index) => ({ label: `${index}` }));
  const gates: Readonly<Record<string, GateDraft>> = {
    checked: { blockers },
    asked: { human: { prompt: 'x', options } },
  };
  const tools = { group: many.map((index) => `mcp:a/t${index}`) };
  const phases = many
    .slice(0, 20)
    .map((id): PhaseDraft => ({ id, gates: ['checked', 'asked'], allowedTools: many.map(() => 'group') }));

  const defined = defineWorkflow({ id: 'x', phases, gates, tools }, { checks: {} });

  const found = defined.ok ? [] : defined.problems;
  for (const code of ['too_many_checks', 'bad_group', 'bad_value'])
    expect(found.map((one) => one.code)).toContain(code);
  expect(found.length + (defined.leftOut?.errors ?? 0)).toBeLessThan(20 * 300);
});

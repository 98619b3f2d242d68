import { describe, expect, test } from 'vitest';
import { defineWorkflow } from '../model/defineWorkflow.ts';
import type { PhaseDraft } from '../model/draft.ts';
import { validateCheckpoint } from './evidence.ts';
import { phases, workflowOf } from './fixtures/walks.ts';

type Field = NonNullable<PhaseDraft['fields']>[number];

const missingOf = (field: Field, value: Parameters<typeof validateCheckpoint>[1]) => {
  const [phase] = workflowOf(phases(1, () => ({ fields: [field] }))).phases;
  return validateCheckpoint(phase as NonNullable<typeof phase>, value).missing;
};
const asked = { name: 'tests_pass', type: 'bool', description: 'All tests pass' } as const;

describe('a boolean asked for as evidence', () => {
  test.each<[string, Partial<Field>]>([
    ['without a rule', {}],
    ['with the rule `is_true`', { rule: 'is_true' }],
    ['with a rule about sizes', { rule: 'positive' }],
    ['with a rule about emptiness', { rule: 'non_empty' }],
    ['that is said to be no exception', { falseOk: false }],
  ])('%s is not completed with `false` [C30]', (_, rule) => {
    expect(missingOf({ ...asked, ...rule }, { tests_pass: false })).toEqual([
      'tests_pass (validation failed: must be true: All tests pass)',
    ]);
    expect(missingOf({ ...asked, ...rule }, { tests_pass: true })).toEqual([]);
  });

  test.each<[string, Partial<Field>]>([
    ['`rule: present`', { rule: 'present' }],
    ['`rule: optional`', { rule: 'optional' }],
    ['`falseOk`', { falseOk: true }],
  ])('passes as `false` where %s says so [C30]', (_, rule) => {
    expect(missingOf({ ...asked, ...rule }, { tests_pass: false })).toEqual([]);
  });

  test.each<[string, Partial<Field>, string]>([
    ['a number that may be false', { type: 'int', falseOk: true }, 'bad_value'],
    ['a text that must be true', { type: 'str', rule: 'is_true' }, 'bad_value'],
    ['a boolean that must be true and may be false', { rule: 'is_true', falseOk: true }, 'conflict'],
  ])('%s is a problem of the definition', (_, rule, code) => {
    const defined = defineWorkflow(
      { id: 'w', phases: phases(1, () => ({ fields: [{ ...asked, ...rule }] })) },
      { checks: {} },
    );

    expect(defined.ok ? [] : defined.problems.map((problem) => problem.code)).toEqual([code]);
  });
});

describe('a list that holds certain names, each once', () => {
  const tasks = {
    name: 'tasks_completed',
    type: 'list',
    rule: 'non_empty',
    exactly: ['1.1', '1.2'],
  } as const;

  test.each([
    [['1.2', '1.1'], []],
    [['1.1'], ['missing: 1.2']],
    [['1.1', '1.2', '9.9'], ['unknown: 9.9']],
    [['1.1', '1.1', '1.2'], ['given twice: 1.1']],
    [['1.1', 1.2], ['missing: 1.2; unknown: 1.2']],
    [['one', '1.1', '1.1'], ['missing: 1.2; unknown: one; given twice: 1.1']],
  ])('%j lacks %j', (given, reasons) => {
    expect(missingOf(tasks, { tasks_completed: given })).toEqual(
      reasons.map((reason) => `tasks_completed (validation failed: ${reason})`),
    );
  });

  test('a refusal does not grow with what was submitted', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `${index}`.padEnd(500, 'x'));

    expect(missingOf(tasks, { tasks_completed: many })[0]?.length).toBeLessThan(2500);
  });
});

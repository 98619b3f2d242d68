import { defineWorkflow, PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { readRates } from './readRates.ts';

const human = { prompt: 'Good?', options: [{ label: 'Approve' }, { label: 'Reject', next: null }] };
const defined = defineWorkflow(
  { id: 'w', phases: [{ id: 'PLAN', gates: [{ id: 'ok', human }] }, { id: '2' }] },
  { checks: {} },
);
if (!defined.ok) throw new Error(JSON.stringify(defined.problems));
const { workflow } = defined;

test('YAML and JSON are read, in both spellings', () => {
  const yaml = 'phases:\n  PLAN: { pass: [0.5, 0.9], minutes: 12, decide_minutes: 30 }\n  2: { resume: 1 }\n';
  const json = JSON.stringify({ phases: { PLAN: { decideMinutes: [5, 10], options: { Approve: 0.9 } } } });

  expect(readRates('rates.yaml', yaml, workflow)).toEqual({
    PLAN: { pass: [0.5, 0.9], minutes: 12, decide_minutes: 30 },
    2: { resume: 1 },
  });
  expect(readRates('rates.json', json, workflow)).toEqual({
    PLAN: { decide_minutes: [5, 10], options: { Approve: 0.9 } },
  });
});

test('everything wrong is said at once, each with its line', () => {
  const text = [
    'phases:',
    '  PLAM: {}',
    '  PLAN:',
    '    pass: 1.5',
    '    minutes: soon',
    '    decideMinutes: -3',
    '    options: { Aprove: 0.5, Approve: 0.6 }',
    '    passs: 1',
    '  2:',
    '    items: 4',
  ].join('\n');

  expect(problemsOf(text)).toEqual([
    '2:3 unknown_phase there is no phase `PLAM` (did you mean `PLAN`?)',
    '4:11 bad_value `pass` is a share from 0 to 1, not `1.5`',
    '5:14 wrong_type `minutes` must be a number or a list, not `soon`',
    '6:20 bad_value `decide_minutes` are from 0 to 5256000, not `-3`',
    '7:14 bad_value the shares of `options` add up to 1.1, which is over 1',
    '7:16 unknown_option there is no option `Aprove` (did you mean `Approve`?)',
    '8:5 unknown_key unknown key `passs` (did you mean `pass`?)',
    '10:5 no_effect phase `2` has no items',
  ]);
});

describe('a file that holds no rates', () => {
  test.each([
    ['', 'empty_file'],
    ['# nothing\n', 'empty_file'],
    ['{}', 'missing_key'],
    ['phases: []', 'wrong_type'],
    ['- 1', 'wrong_type'],
    ['phases: {PLAN: 0.5}', 'wrong_type'],
    ['phases: {', 'syntax'],
    ['phases: {PLAN: {pass: .nan}}', 'bad_value'],
    ['phases: {PLAN: {pass: []}}', 'bad_value'],
  ])('%j is refused as %s', (text, code) => {
    expect(problemsOf(text).map((line) => line.split(' ')[1])).toContain(code);
  });
});

function problemsOf(text: string): readonly string[] {
  try {
    readRates('rates.yaml', text, workflow);
  } catch (error) {
    if (!(error instanceof PhasegateError)) throw error;
    expect(error.code).toBe('workflow_invalid');
    return error.problems.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
  }
  return [];
}

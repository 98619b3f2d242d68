import { describe, expect, test } from 'vitest';
import {
  describeLine,
  fieldNameIn,
  inferRule,
  inferType,
  isEvidenceRequirement,
  readRequirements,
} from './checkpointProse.ts';
import { linesOf } from './markdownText.ts';
import { Report } from './report.ts';

test.each([
  ['You MUST PROVIDE `x_y`', true],
  ['Required: `x_y`', true],
  ['**Evidence:** x_y', true],
  ['checkpoint: x_y', true],
  ['The evidence is strong', false],
  ['This is required', false],
])('%s asks for evidence: %s [S0.20]', (line, asks) => {
  expect(isEvidenceRequirement(line)).toBe(asks);
});

test.each([
  ['Must provide `function_count` and **bold_name**', 'function_count'],
  ['Must provide **Branches** or `later_name`', 'branches'],
  ['Must provide the function_count of the module', 'function_count'],
  ['Must provide something', 'unknown_field'],
  ['Must provide a __ or a-b_c', 'unknown_field'],
  ['**Evidence:** `call_list` of all calls', 'call_list'],
  ['Must provide `call_list`: all calls', 'call_list'],
])('the name in "%s" is %s [S0.21 S0.22]', (line, name) => {
  expect(fieldNameIn(line)).toBe(name);
});

test.each([
  ['the COUNT of a list', 'int'],
  ['an account of it', 'int'],
  ['a list of commands', 'list'],
  ['an array', 'list'],
  ['the output as a flag', 'str'],
  ['a boolean', 'bool'],
  ['answer true/false', 'bool'],
  ['anything else', 'str'],
])('the type of "%s" is %s: the first word that fits, as a part of any word [S0.23]', (line, type) => {
  expect(inferType(line)).toBe(type);
});

test.each([
  ['at least one, optional', 'positive'],
  ['Greater than zero', 'positive'],
  ['a non-zero sum', 'positive'],
  ['non-empty and optional', 'non_empty'],
  ['must contain a name', 'non_empty'],
  ['may be empty', 'optional'],
  ['a remark, optional', 'optional'],
  ['this is not optional', 'present'],
  ['never optional', 'present'],
  ['whatever', 'present'],
])('the rule of "%s" is %s [S0.24]', (line, rule) => {
  expect(inferRule(line)).toBe(rule);
});

test('a denial that runs over two lines denies "optional" too', () => {
  expect(inferRule('Must provide `all_green`: this is not', ['optional'])).toBe('present');
});

test('a description is the line without the marks around it [S0.25]', () => {
  expect(describeLine('  - **Must provide `x_y`: a "thing"**:  ')).toBe('Must provide `x_y`: a "thing');
  expect(describeLine('## Checkpoint: `x_y`')).toBe('Checkpoint: `x_y');
});

describe('reading a document', () => {
  test('a line that says too little is understood with the two lines that continue it [S0.26]', () => {
    const { fields } = read([
      '- Must provide `first_thing`',
      '  as an array,',
      '  which is non-empty',
      '- Must provide `second_thing`',
      '- Another item about a count',
      '- Must provide `third_thing`',
      '  and then,',
      '  and then,',
      '  as a count of them',
    ]);

    expect(fields).toMatchObject([
      { name: 'first_thing', type: 'list', rule: 'non_empty' },
      { name: 'second_thing', type: 'str', rule: 'present' },
      { name: 'third_thing', type: 'str', rule: 'present' },
    ]);
  });

  test('of two requirements with the same name the later counts, also across passages [S0.27]', () => {
    const report = new Report();
    const passages = ['Must provide `the_thing` as a count', 'Must provide `the_thing` as a list'].map(
      (text, index) => ({ file: `${index}.md`, from: 10, lines: linesOf(text) }),
    );

    const found = readRequirements(passages, report);

    expect([...found.values()]).toMatchObject([{ type: 'list', at: { file: '1.md', line: 10 } }]);
  });

  test('a line that asks for evidence and names none is an error with its place [S0.29]', () => {
    const { problems } = read(['# Phase', '', '  Required: proof that it works']);

    expect(problems).toMatchObject([
      { file: 'phase.md', line: 3, column: 3, code: 'unknown_field', severity: 'error' },
    ]);
  });

  test('words that contradict each other are an error and not a rule nobody can meet [S0.29]', () => {
    const { fields, problems } = read([
      'Must provide `some_count`, non-empty',
      'Must provide `a_flag`, at least',
    ]);

    expect(fields).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual(['unclear_requirement', 'unclear_requirement']);
  });

  test('a heading or label introduces the requirements below it, and is an error without any', () => {
    const good = read([
      '## Evidence:',
      '',
      '- Must provide `x_y`',
      '',
      '**Required:**',
      '',
      '- must provide `z_a`',
    ]);
    const bad = read([
      '## Evidence:',
      '',
      '- `x_y` is needed',
      '',
      '## Required: what follows',
      '# Next',
      'Must provide `a_b`',
    ]);

    expect(good.problems).toEqual([]);
    expect(good.fields.map(({ name }) => name)).toEqual(['x_y', 'z_a']);
    expect(bad.problems.map(({ line, code }) => `${line} ${code}`)).toEqual(['5 unknown_field']);
    expect(bad.fields.map(({ name }) => name)).toEqual(['x_y', 'a_b']);
  });

  test('a second name on a line, and a requirement in a code block, are pointed out', () => {
    const { fields, problems } = read([
      'Must provide `x_y` and `z_a`',
      '',
      '```',
      'Must provide `b_c`',
      '```',
    ]);

    expect(fields.map(({ name }) => name)).toEqual(['x_y']);
    expect(problems.map(({ code, severity }) => `${code} ${severity}`)).toEqual([
      'one_per_line note',
      'requirement_in_code note',
    ]);
  });
});

function read(lines: readonly string[]) {
  const report = new Report();
  const found = readRequirements([{ file: 'phase.md', from: 1, lines: linesOf(lines.join('\r\n')) }], report);
  return { fields: [...found.values()], problems: report.inOrder('phase.md') };
}

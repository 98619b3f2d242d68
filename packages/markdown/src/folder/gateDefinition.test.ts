import { describe, expect, test } from 'vitest';
import { definitionReader } from '../../../phasegate/src/loaders/yaml/definitionReader.ts';
import { readGateDefinition } from './gateDefinition.ts';
import { Report } from './report.ts';
import { readValidator } from './validators.ts';

describe('a gate file', () => {
  test('becomes fields with the rules of the engine, and conditions for the rest', () => {
    const { gate, errors } = read(`
checkpoint: { enabled: true, strict: true, allow_override: false }
evidence_schema:
  tests_passing: { type: integer, required: true, description: Passing tests, validator: positive }
  files: { type: list, validator: "lambda x: len(x) > 0" }
  coverage: { type: integer, validator: in_range, validator_params: { low: 80, high: 100 } }
  lint: { type: boolean, validator: is_true }
  remarks: { type: string, required: false }
  extra: { type: dict, required: false, validator: non_empty }
validators:
  positive: "lambda x: x > 0"
  in_range: "lambda x, low, high: low <= x <= high"
cross_field_validation:
  - rule: "lambda e: e['tests_passing'] >= 3 or len(e.get('files')) == 0"
    error_message: Every file needs tests
  - coverage >= 80
`);

    expect(errors).toEqual([]);
    expect(gate?.fields).toMatchObject([
      { name: 'tests_passing', type: 'int', rule: 'positive', description: 'Passing tests' },
      { name: 'files', type: 'list', rule: 'non_empty' },
      {
        name: 'coverage',
        type: 'int',
        rule: 'present',
        condition: '(80 <= result.coverage && result.coverage <= 100)',
      },
      { name: 'lint', type: 'bool', rule: 'is_true' },
      { name: 'remarks', type: 'str', rule: 'optional' },
      {
        name: 'extra',
        type: 'object',
        rule: 'optional',
        condition: '!("extra" in result) || result.extra === null || length(result.extra) > 0',
      },
    ]);
    expect(gate?.crossRules).toMatchObject([
      {
        condition: "(result['tests_passing'] >= 3 || length(result['files']) === 0)",
        message: 'Every file needs tests',
      },
      { condition: 'result.coverage >= 80' },
    ]);
  });

  test('that is lenient or may be overridden is reported and held to its evidence all the same [fail.2]', () => {
    const { gate, errors, notes } = read(`
checkpoint: { enabled: false, strict: false, allow_override: true }
strict: false
evidence_schema: { done: { type: list } }
`);

    expect(errors).toEqual([]);
    expect(notes).toEqual(['2 not_obeyed', '2 not_obeyed', '2 not_obeyed', '3 not_obeyed']);
    expect(gate?.fields).toMatchObject([{ name: 'done', rule: 'present' }]);
  });

  test('of bare booleans says that they are claims [fail.7]', () => {
    const { notes } = read(
      'evidence_schema: { a: { type: boolean }, b: { type: boolean, validator: is_true } }',
    );

    expect(notes).toEqual(['1 bare_boolean']);
  });

  test.each([
    ['', 'empty_file'],
    ['- a', 'wrong_type'],
    ['checkpoint: {strict: true', 'syntax'],
    ['validators: {}', 'empty_gate'],
    ['evidence_schema: {}', 'empty_gate'],
    ['evidence_schema: []', 'wrong_type'],
    ['evidence_schema: { a: { required: true } }', 'missing_key'],
    ['evidence_schema: { a: { type: strin } }', 'bad_type'],
    ['evidence_schema: { a: { type: int, requird: false } }', 'unknown_key'],
    ['evidence_schema: { a: { type: int, required: 3 } }', 'wrong_type'],
    ['evidence_schema: { a: { type: int, validator: nobody_knows } }', 'unknown_validator'],
    ['evidence_schema: { a: { type: str, validator: "lambda x: x.isalnum()" } }', 'unknown_validator'],
    ['evidence_schema: { a: { type: int, validator: "lambda x, low: x > low" } }', 'unknown_validator'],
    ['evidence_schema: { a: { type: int, validator: non_empty } }', 'unsatisfiable'],
    ['evidence_schema: { a: { type: list, validator: positive } }', 'unsatisfiable'],
    ['evidence_schema: { a: { type: int } }\ncross_field_validation: [a > b]', 'bad_rule'],
    ['evidence_schema: { a: { type: int } }\ncross_field_validation: [{ message: no rule }]', 'bad_rule'],
    ['evidence_schema: { a: { type: int } }\ncross_field_validation: a > 0', 'wrong_type'],
    ['evidence_schema: { a: { type: int } }\ncross_field_validation: ["len(a) > 0"]', 'unsatisfiable'],
  ])('such as %j is refused as %s, never read as one that passes [fail.3 fail.4]', (text, code) => {
    expect(read(text).errors).toEqual([expect.stringContaining(code)]);
  });
});

describe('a validator', () => {
  test.each([
    ['greater_than_0', 'int', { rule: 'positive' }],
    ['lambda x: x > 0', 'number', { rule: 'positive' }],
    ['x >= 1', 'int', { rule: 'positive' }],
    ['len(x) > 0', 'str', { rule: 'non_empty' }],
    ['lambda x: x is not None', 'str', { rule: 'present' }],
    ['lambda x: True', 'str', { rule: 'present' }],
    ['optional', 'str', { rule: 'optional' }],
    ['-', 'str', { rule: 'present' }],
    ['lambda x: not x', 'bool', { condition: '!(result.f)' }],
    ['min_length_10', 'list', { condition: 'length(result.f) >= 10' }],
    ['min_length_1', 'str', { rule: 'non_empty' }],
    ['max_length_80', 'str', { condition: 'length(result.f) <= 80' }],
    ['greater_than_or_equal_4', 'int', { condition: 'result.f >= 4' }],
    ['greater-than-or-equal-1', 'int', { rule: 'positive' }],
    ['greater_than_or_equal_0_85', 'number', { condition: 'result.f >= 0.85' }],
    ['less_than_or_equal_2_0', 'number', { condition: 'result.f <= 2' }],
    ['at_least_3', 'int', { condition: 'result.f >= 3' }],
    ['less_than_007', 'int', { condition: 'result.f < 7' }],
    ['equals_5', 'int', { condition: 'result.f === 5' }],
    ['equals_high', 'str', { condition: 'result.f === "high"' }],
    ['between_1_and_5', 'int', { condition: '(1 <= result.f && result.f <= 5)' }],
    ['percent_gte_95', 'int', { condition: '(95 <= result.f && result.f <= 100)' }],
    ['is_true', 'bool', { rule: 'is_true' }],
    ['is_false', 'bool', { rule: 'present', condition: 'result.f === false' }],
    ["lambda value: value in ['a', 'b']", 'str', { condition: "result.f in ['a', 'b']" }],
    ["x != 'no' and len(x) >= 3", 'str', { condition: "(result.f !== 'no' && length(result.f) >= 3)" }],
    ['x not in [-1, 2.5]', 'number', { condition: '!(result.f in [-1, 2.5])' }],
  ] as const)('%s on %s is understood [fail.8]', (text, type, expected) => {
    expect(readValidator(text, { name: 'f', type })).toMatchObject({ ok: true, ...expected });
  });

  test.each([
    'lambda x: all(i for i in x)',
    'x + 1 > 2',
    'x >',
    '(x > 0',
    'lambda x: open("f")',
    'x; y',
    '__import__',
    'min_length_ten',
    'min_length_3',
    'equals_high',
    'file_exists',
  ])('%s is not', (text) => {
    expect(readValidator(text, { name: 'f', type: 'int' })).toMatchObject({ ok: false });
  });
});

function read(text: string) {
  const report = new Report();
  const gate = readGateDefinition('gate-definition.yaml', text, { reader: definitionReader, report });
  const problems = report.inOrder('');
  const with_ = (severity: string) =>
    problems.filter((problem) => problem.severity === severity).map(({ line, code }) => `${line} ${code}`);
  return { gate, errors: with_('error'), notes: with_('note') };
}

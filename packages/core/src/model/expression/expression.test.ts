import { describe, expect, test } from 'vitest';
import type { Json } from '../../json.ts';
import { evaluate, parseExpression, pathsOf, SCOPE_ROOTS, type Scope } from './expression.ts';

const scope: Scope = {
  result: {
    decision: 'approved',
    metrics: { delta: 3, 'weird key': true },
    items: ['a', 'b'],
    none: null,
    flag: true,
    nested: [{ n: 1 }],
    length: undefined as unknown as Json,
  },
  checkpoint: { threshold: 2 },
  params: { mode: 'full', length: 'own' },
  iteration: 2,
  item: undefined,
};

describe('conditions of the designs', () => {
  test.each([
    ['result.decision === "approved"', true],
    ["result.decision === 'rejected'", false],
    ['result.metrics.delta >= checkpoint.threshold', true],
    ['result.metrics.delta < checkpoint.threshold', false],
    ['result.decision == "approved" && iteration != 3', true],
    ['result["metrics"]["weird key"]', true],
    ['result.nested[0].n === 1', true],
    ['"a" in result.items', true],
    ['"c" in result.items', false],
    ['result.decision in ["approved", "waived"]', true],
    ['"delta" in result.metrics', true],
    ['"toString" in result.metrics', false],
    ['length(result.items) === 2', true],
    ['length(result.decision) > 100', false],
    ['length(result.metrics) === 2', true],
    ['result.items.length === 2', true],
    ['params.mode.length === 4', true],
    ['params.length === "own"', true],
    ['result.none === null', true],
    ['!(result.flag && false)', true],
    ['-1.5e0 < -1', true],
    ['"a" < "b"', true],
    ['result.items === ["a", "b"]', true],
    ['result.nested[0] !== params', true],
    ['[] === []', true],
    ['"\\u0041\\x42\\n" === \'AB\\n\'', true],
    ['true || false && false', true],
    ['!result.flag === false', true],
    ['1 < 2 === true', true],
  ])('`%s` is %s', (source, expected) => {
    expect(answer(source)).toBe(expected);
  });

  test('the roots are the eight of the model', () => {
    expect(SCOPE_ROOTS).toEqual([
      'result',
      'artifacts',
      'approved',
      'params',
      'state',
      'checkpoint',
      'iteration',
      'item',
    ]);
  });
});

describe('a condition without an answer says why', () => {
  test.each([
    [
      'result.metric.delta > 1',
      'missing_path',
      0,
      '`result.metric.delta` does not exist: `result` has `decision`',
    ],
    [
      '1 < 2 && result.items[7] === "a"',
      'missing_path',
      9,
      '`result.items[7]` does not exist: `result.items` is a list of 2 items',
    ],
    ['result.none.x === 1', 'missing_path', 0, '`result.none` is null'],
    ['result.decision.x === 1', 'missing_path', 0, '`result.decision` is a string'],
    ['result.items.length.x === 1', 'missing_path', 0, '`result.items` is a list of 2 items'],
    ['result.metrics.length === 2', 'missing_path', 0, '`result.metrics` has `delta`, `weird key`'],
    [
      'item.x === 1',
      'missing_path',
      0,
      'there is no `item` here, only `result`, `checkpoint`, `params`, `iteration`',
    ],
    ['reslt.x === 1', 'unknown_root', 0, 'there is no `reslt` here'],
    ['constructor.name === "Object"', 'unknown_root', 0, 'there is no `constructor` here'],
    ['result.metrics.delta < "4"', 'wrong_type', 23, 'expected a number after `<`, found a string'],
    [
      'result.flag < 4',
      'wrong_type',
      0,
      'expected a number or a string before `<`, found a boolean in `result.flag`',
    ],
    [
      'true && result.decision',
      'wrong_type',
      8,
      'expected true or false, found a string in `result.decision`',
    ],
    ['!1', 'wrong_type', 1, 'expected true or false, found a number'],
    ['result.decision', 'wrong_type', 0, 'expected true or false, found a string'],
    ['"a" in "abc"', 'wrong_type', 7, 'expected a list or an object after `in`, found a string'],
    ['1 in result', 'wrong_type', 0, 'expected a key, which is a string, before `in`, found a number'],
    [
      'length(1) === 1',
      'wrong_type',
      7,
      'expected a string, a list or an object in `length`, found a number',
    ],
  ])('`%s` is %s at %i', (source, code, at, message) => {
    const error = errorOf(source);

    expect(error).toMatchObject({ code, at });
    expect(error?.message).toContain(message);
  });

  test('the right side is left alone when the left side decides', () => {
    expect(answer('false && result.missing')).toBe(false);
    expect(answer('true || result.missing')).toBe(true);
    expect(errorOf('true && result.missing')).toMatchObject({ code: 'missing_path', at: 8 });
  });
});

describe('what does not parse is refused with its place', () => {
  test.each([
    ['', 0, 'the condition is empty'],
    ['  ', 2, 'the condition is empty'],
    ['result.', 7, 'expected a name after `.`, found the end'],
    ['result.a ===', 12, 'expected a value, found the end'],
    ['result.a = 1', 9, 'to compare, write `===`'],
    ['result.a & true', 9, '`and` is written `&&`'],
    ['result.a + 1 > 2', 9, 'a condition has no arithmetic'],
    ['1 - 2 < 3', 2, 'a condition has no arithmetic'],
    ['test(result.a)', 0, '`test` cannot be called: `length(x)` is the only call'],
    ['result.a.test(1)', 13, '`length(x)` is the only call'],
    ['result?.a', 6, 'a missing path is an error'],
    ['(true', 5, 'expected `)` for the `(` at 0, found the end'],
    ['true) ', 4, 'expected an operator or the end, found `)`'],
    ['["a", ] === 1', 6, 'expected a value, found `]`'],
    ['result[x] === 1', 7, 'expected a key in quotes or an index'],
    ['result[-1] === 1', 7, 'expected a key in quotes or an index'],
    ['result[1.5] === 1', 7, 'expected a key in quotes or an index'],
    ['"abc', 0, 'not closed with `"`'],
    ['"a\nb" === 1', 0, 'not closed with `"`'],
    ['"a\\q" === 1', 2, 'unknown escape `\\q`'],
    ['"\\u{110000}" === 1', 1, 'is not a character'],
    ['007 === 7', 0, 'is not a number'],
    ['1.x === 7', 0, 'is not a number'],
    ['1e999 === 7', 0, 'too large for a number'],
    ['-x === 1', 1, 'expected a number after `-`, found `x`'],
    ['undefined === 1', 0, '`undefined` is not a value here'],
    ['true false', 5, 'expected an operator or the end, found `false`'],
    ['in === 1', 0, 'expected a value, found `in`'],
    ['`a` === 1', 0, 'text stands in single or double quotes'],
    ['a /b/ c', 2, 'no regular expressions'],
    [`${'('.repeat(65)}true${')'.repeat(65)}`, 64, 'nested at most 64 deep'],
    [`${'!'.repeat(65)}true`, 64, 'nested at most 64 deep'],
    ['['.repeat(1500), 64, 'nested at most 64 deep'],
    [`true${' '.repeat(2000)}`, 2000, 'at most 2000 characters, found 2004'],
  ])('`%s` at %i', (source, at, message) => {
    const parsed = parseExpression(source);

    expect(parsed).toMatchObject({ ok: false, error: { code: 'syntax', at } });
    expect(parsed.ok ? '' : parsed.error.message).toContain(message);
  });

  test('64 levels and a chain as long as the source may be are fine', () => {
    expect(answer(`${'('.repeat(64)}true${')'.repeat(64)}`)).toBe(true);
    expect(answer(`${'true&&'.repeat(332)}true`)).toBe(true);
  });
});

test('every path is listed with its place', () => {
  const parsed = parseExpression('!result.a && (length(b["c d"]) > 1 || x in [y, 1])');

  const paths = parsed.ok ? pathsOf(parsed.expression).map(({ root, steps, at }) => [root, steps, at]) : [];

  expect(paths).toEqual([
    ['result', ['a'], 1],
    ['b', ['c d'], 21],
    ['x', [], 38],
    ['y', [], 44],
  ]);
});

test('a deeply nested value is compared without overflowing the stack', () => {
  const deep = (): Json => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  const parsed = parseExpression('a === b && a !== c');

  const value = parsed.ok ? evaluate(parsed.expression, { a: deep(), b: deep(), c: [deep()] }) : null;

  expect(value).toEqual({ ok: true, value: true });
});

function answer(source: string): boolean | string {
  const parsed = parseExpression(source);
  if (!parsed.ok) return parsed.error.message;
  const answered = evaluate(parsed.expression, scope);
  return answered.ok ? answered.value : answered.error.message;
}

function errorOf(source: string) {
  const parsed = parseExpression(source);
  if (!parsed.ok) return parsed.error;
  const answered = evaluate(parsed.expression, scope);
  return answered.ok ? null : answered.error;
}

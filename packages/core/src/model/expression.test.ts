import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import {
  type Expression,
  evaluate,
  parseExpression,
  pathsOf,
  printExpression,
  SCOPE_ROOTS,
  type Scope,
} from './expression.ts';

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

  test('the roots are the seven of the model', () => {
    expect(SCOPE_ROOTS).toEqual([
      'result',
      'artifacts',
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
    ['undefined === 1', 0, '`undefined` is no value here'],
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

describe('properties', () => {
  test('no text makes the parser throw, and a refusal points into the text', () => {
    const fragments = fc.constantFrom(
      'result',
      '.',
      'a',
      '[',
      ']',
      '(',
      ')',
      '!',
      '===',
      '"',
      "'",
      '1',
      '-',
      ' in ',
      ' && ',
      '\\',
      ',',
      'length',
      '\u{1F600}',
      '\ud800',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fragments, { maxLength: 60 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (source) => {
        const parsed = parseExpression(source);
        if (!parsed.ok) expect(parsed.error.at).toBeLessThanOrEqual(source.length);
        else evaluate(parsed.expression, scope);
      }),
      { numRuns: 3000 },
    );
  });

  test('printing and parsing give the same tree', () => {
    fc.assert(
      fc.property(anyExpression(), (expression) => {
        const parsed = parseExpression(printExpression(expression));

        expect(withoutPlaces(parsed.ok ? parsed.expression : parsed.error)).toEqual(
          withoutPlaces(expression),
        );
      }),
      { numRuns: 2000 },
    );
  });

  test('an answer is the one JavaScript gives', () => {
    const roots = {
      result: { n: 3, s: 'x', yes: true, no: false, nil: null, deep: { m: -2 }, list: [1, 'x', ''] },
      iteration: 0,
    };
    fc.assert(
      fc.property(commonExpression(), (source) => {
        const parsed = parseExpression(source);
        const answered = parsed.ok ? evaluate(parsed.expression, roots) : parsed;
        const js = new Function('result', 'iteration', 'length', `return (${source});`);

        expect(answered).toEqual({
          ok: true,
          value: js(roots.result, roots.iteration, (x: string) => x.length),
        });
      }),
      { numRuns: 3000 },
    );
  });

  test('a name of a prototype is never found', () => {
    const names = [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'valueOf',
      '__defineGetter__',
      'map',
      'at',
    ];
    const values = fc.constantFrom<Json>({}, { a: {} }, [], [1], 'text', 1, true, null);
    fc.assert(
      fc.property(fc.constantFrom(...names), values, fc.boolean(), (name, value, bracket) => {
        const path = bracket ? `result["${name}"]` : `result.${name}`;
        for (const source of [`${path} === null`, `${path}.name === null`, `${name} === null`]) {
          const parsed = parseExpression(source);
          const answered = parsed.ok ? evaluate(parsed.expression, { result: value }) : parsed;
          expect(answered).toMatchObject({
            ok: false,
            error: { code: expect.stringMatching(/^(missing_path|unknown_root)$/) },
          });
        }
      }),
    );
  });
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

function withoutPlaces(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member) =>
      key === 'at' ? undefined : Object.is(member, -0) ? '-0' : member,
    ),
  );
}

function anyExpression(): fc.Arbitrary<Expression> {
  const name = fc.oneof(
    fc.constantFrom('a', 'b_1', 'length', 'in', '$x'),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  const root = fc.constantFrom('result', 'length', 'item', 'größe');
  const at = fc.constant(0);
  return fc
    .letrec<{ tree: Expression }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5, depthSize: 'medium' },
        fc.record({
          kind: fc.constant('literal' as const),
          value: fc.oneof(
            fc.string({ unit: 'binary', maxLength: 8 }),
            fc.double({ noNaN: true, noDefaultInfinity: true }),
            fc.boolean(),
            fc.constant(null),
          ),
          at,
        }),
        fc.record({
          kind: fc.constant('path' as const),
          root,
          steps: fc.array(fc.oneof(name, fc.nat(20)), { maxLength: 4 }),
          at,
        }),
        fc.record({ kind: fc.constant('list' as const), items: fc.array(tie('tree'), { maxLength: 3 }), at }),
        fc.record({ kind: fc.constantFrom('not' as const, 'length' as const), operand: tie('tree'), at }),
        fc.record({
          kind: fc.constant('compare' as const),
          operator: fc.constantFrom('===', '!==', '<', '<=', '>', '>=', 'in'),
          left: tie('tree'),
          right: tie('tree'),
          at,
        }),
        fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          left: tie('tree'),
          right: tie('tree'),
          at,
        }),
      ),
    }))
    .tree.filter((expression) => printExpression(expression).length <= 2000);
}

/** Text in the language that conditions and JavaScript share, where every path exists and every type fits. */
function commonExpression(): fc.Arbitrary<string> {
  const number = fc.oneof(
    fc.constantFrom(
      'result.n',
      'result.deep.m',
      'iteration',
      'result["n"]',
      'result.list[0]',
      'length(result.s)',
      'result.list.length',
      'length(result.list)',
    ),
    fc.integer({ min: -3, max: 4 }).map(String),
    fc.constantFrom('1.5', '2e0', '-0'),
  );
  const text = fc.oneof(
    fc.constantFrom('result.s', 'result.list[1]', 'result.list[2]'),
    fc.constantFrom('x', 'y', '', "'", '"', '\n').map((s) => JSON.stringify(s)),
    fc.constantFrom("'x'", "'a\\'b'"),
  );
  const any = fc.oneof(number, text, fc.constantFrom('null', 'result.nil', 'true', 'result.no'));
  const order = fc.constantFrom('<', '<=', '>', '>=');
  const equal = fc.constantFrom('===', '!==');
  const space = fc.constantFrom('', ' ', '\n ');
  const join = (...parts: fc.Arbitrary<string>[]) =>
    fc.tuple(...parts.flatMap((part) => [part, space])).map((all) => all.join(''));
  return fc
    .letrec<{ truth: string }>((tie) => ({
      truth: fc.oneof(
        { maxDepth: 5, depthSize: 'medium' },
        fc.constantFrom('true', 'false', 'result.yes', 'result.no', 'result["yes"]'),
        join(number, order, number),
        join(text, order, text),
        join(any, equal, any),
        join(fc.constant('('), tie('truth'), fc.constant(')')),
        join(fc.constant('!('), tie('truth'), fc.constant(')')),
        join(fc.constant('!result.yes'), equal, fc.constant('('), tie('truth'), fc.constant(')')),
        join(tie('truth'), fc.constantFrom('&&', '||'), tie('truth')),
        join(number, order, number, equal, fc.constantFrom('true', 'false')),
      ),
    }))
    .truth.filter((source) => source.length <= 2000);
}

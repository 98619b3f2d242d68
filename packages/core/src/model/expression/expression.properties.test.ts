import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import type { Json } from '../../json.ts';
import { type Expression, evaluate, parseExpression, printExpression } from './expression.ts';

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
        else evaluate(parsed.expression, { result: { a: [1, 'x'] } });
      }),
      { numRuns: cases({ quick: 600, full: 15_000 }) },
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
      { numRuns: cases({ quick: 400, full: 10_000 }) },
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
      { numRuns: cases({ quick: 600, full: 15_000 }) },
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
      { numRuns: cases({ quick: 100, full: 2000 }) },
    );
  });
});

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

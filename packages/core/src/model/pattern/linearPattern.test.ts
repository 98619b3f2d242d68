import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../json.ts';
import { compileSchema } from '../schema/jsonSchema.ts';
import { compilePattern } from './linearPattern.ts';

const AS = 'a'.repeat(100_000);

describe('a pattern that backtracks', () => {
  test.each([
    ['nested repetition', '^(a+)+$', `${AS}!`],
    ['the same way twice', '^(a|a)*$', `${AS}!`],
    ['one in another', '^([a-z]+)*$', `${AS}!`],
    ['overlapping lists', '(.*)*,(.*)*;', AS],
    ['no beginning', 'a*a*a*b', AS],
  ])('is matched in steps that grow with the text alone: %s [adv.O3]', (_name, source, text) => {
    const compiled = compilePattern(source);
    if (!compiled.ok) throw new Error(String(compiled.reason));
    const steps = { left: 100 * text.length };

    expect(compiled.pattern.test(text, steps)).toBe(false);
    expect(steps.left).toBeGreaterThan(0);
  });

  test('does not hold a schema up, as a pattern, in the names of keys or as a pattern of names [adv.O3]', () => {
    const evil = '^(a+)+$';
    const text = `${'a'.repeat(5000)}!`;
    const judged = (schema: JsonObject, value: JsonObject) => {
      const compiled = compileSchema(schema);
      return compiled.ok
        ? compiled.validate(value).map(({ path, message }) => `${path} ${message.slice(0, 20)}`)
        : null;
    };

    expect(judged({ properties: { x: { pattern: evil } } }, { x: text })).toEqual([
      '/x must match `^(a+)+$`',
    ]);
    expect(judged({ patternProperties: { [evil]: false } }, { [text]: 1 })).toEqual([]);
    expect(judged({ propertyNames: { pattern: evil } }, { [text]: 1 })).toEqual([' has the key `aaaaaaa']);
  });

  test('is given up as a problem when all its texts together take too long [adv.O3]', () => {
    const compiled = compileSchema({ items: { pattern: 'a.{0,1000}b' } });
    if (!compiled.ok) throw new Error('the schema is fine');

    expect(compiled.validate(Array.from({ length: 100 }, () => 'a'.repeat(5000)))).toEqual([
      { path: '', message: 'takes too many steps to match the patterns of its schema' },
    ]);
  });
});

describe('what only going back can match is a problem of the definition, with its place', () => {
  test.each([
    ['^(?=a)b', 'a lookahead (`(?=`)'],
    ['^(?!a)b', 'a lookahead (`(?!`)'],
    ['(?<=a)b', 'a lookbehind (`(?<=`)'],
    ['(?<!a)b', 'a lookbehind (`(?<!`)'],
    ['(a)\\1', 'a backreference (`\\1`)'],
    ['(?<x>a)\\k<x>', 'a backreference (`\\k`)'],
    ['a{5000}b{6000}', 'repetitions that make it too large'],
    [`${'('.repeat(120)}a${')'.repeat(120)}`, 'more than 100 groups inside each other'],
  ])('%s [adv.O3]', (source, what) => {
    const problem = expect.stringContaining(`cannot be matched in bounded time: it has ${what}`);

    expect(compileSchema({ properties: { x: { pattern: source } } })).toEqual({
      ok: false,
      problems: [{ path: ['properties', 'x', 'pattern'], message: problem }],
    });
    expect(compileSchema({ patternProperties: { [source]: true } })).toEqual({
      ok: false,
      problems: [{ path: ['patternProperties', source], message: problem }],
    });
  });

  test('and what is not an expression at all is told as before', () => {
    expect(compilePattern('(')).toEqual({ ok: false, reason: null });
  });
});

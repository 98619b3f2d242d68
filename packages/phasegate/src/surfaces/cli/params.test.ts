import type { Param } from '@phasegate/core';
import { expect, test } from 'vitest';
import { readParams, splitParams } from './params.ts';

const declare = (type: Param['type']): Param => ({ type, description: '', domain: null, required: false });
const DECLARED = { name: declare('string'), count: declare('integer'), deep: declare('object') };

test('a value is text where the workflow asks for text, else JSON where it is JSON', () => {
  const written = splitParams(['name=7', 'count=7', 'deep={"a":[true]}', 'unknown=word'], 'param');

  expect(readParams(written, DECLARED)).toEqual({
    name: '7',
    count: 7,
    deep: { a: [true] },
    unknown: 'word',
  });
});

test('everything after the first equals sign is the value', () => {
  expect(splitParams(['name=a=b='], 'param')).toEqual([{ key: 'name', text: 'a=b=' }]);
});

test('one key with two values is refused, whichever options gave them; the same value twice is not', () => {
  const twice = (second: string) => [
    ...splitParams(['count=1'], 'param'),
    ...splitParams([second], 'option'),
  ];

  expect(() => readParams(twice('count=2'), DECLARED)).toThrow('`count` is given twice with two values');
  expect(readParams(twice('count=1'), DECLARED)).toEqual({ count: 1 });
});

test('a word without a key is refused', () => {
  expect(() => splitParams(['=x'], 'param')).toThrow('not of the form `key=value`');
  expect(() => splitParams(['x'], 'option')).toThrow('`--option x`');
});

test('a key such as __proto__ is a key like any other', () => {
  const params = readParams(splitParams(['__proto__=1'], 'param'), DECLARED);

  expect(Object.hasOwn(params, '__proto__')).toBe(true);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { canonicalJson, type Json, jsonProblem } from './json.ts';

test('canonical JSON has its keys in the order of their code units, few or many', () => {
  const key = fc.string({ unit: 'binary', maxLength: 4 }).filter((name) => name !== '__proto__');
  const sizes = fc.constantFrom({ maxLength: 5 }, { minLength: 20, maxLength: 40 });
  const object = sizes.chain((size) => fc.uniqueArray(key, size));
  fc.assert(
    fc.property(object, (keys) => {
      const sorted = keys.toSorted().map((name) => `${JSON.stringify(name)}:[null]`);
      const value: Json = Object.fromEntries(keys.map((name) => [name, [null]]));
      expect(canonicalJson(value)).toBe(`{${sorted.join(',')}}`);
    }),
    { numRuns: cases({ quick: 100, full: 5000 }) },
  );
});

test('an object is read back from its canonical text with all its keys, where it may be stored', () => {
  const key = fc.string({ unit: 'binary', maxLength: 2 }).filter((name) => name !== '__proto__');
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(key, fc.constantFrom('\ud800', '\ud801')), fc.nat()), (object) => {
      const fits = Object.keys(object).every((name) => name.isWellFormed());
      expect(jsonProblem(object) === null).toBe(fits);
      if (fits) expect(JSON.parse(canonicalJson(object))).toEqual({ ...object });
    }),
    { numRuns: cases({ quick: 200, full: 5000 }) },
  );
});

test('a key with half of a pair is told with its place [adv.O1]', () => {
  expect(jsonProblem({ a: [{ '\ud800': 1 }] })).toBe('has at `a[0]` a key with half of a surrogate pair');
  expect(jsonProblem({ '\udc00': 1 })).toBe('has a key with half of a surrogate pair');
  expect(jsonProblem({ '\ud83d\ude00': '\ud800' })).toBeNull();
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { canonicalJson, type Json } from './json.ts';

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

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { jsonBytes } from '../json.ts';

test('a value is as large as its JSON text, and one over the limit is over it [adv.O4]', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), fc.nat(50), (value, most) => {
      const bytes = new TextEncoder().encode(JSON.stringify(value)).length;

      expect(jsonBytes(value, 1_000_000)).toBe(bytes);
      expect(jsonBytes(value, most) > most).toBe(bytes > most);
    }),
    { numRuns: cases({ quick: 300, full: 10_000 }) },
  );
});

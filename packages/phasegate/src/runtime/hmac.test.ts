import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { hmacOf } from './hmac.ts';

test('the result is that of the platform, for any key and text', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.string({ unit: 'grapheme' })),
      (key, texts) => {
        for (const as of ['hex', 'base64url'] as const) {
          const hmac = hmacOf(key, as);

          for (const text of texts)
            expect(hmac(text)).toBe(createHmac('sha256', key).update(text).digest(as));
        }
      },
    ),
    { numRuns: cases({ quick: 100, full: 2000 }) },
  );
});

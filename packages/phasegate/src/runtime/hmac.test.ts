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

test('a text that does not fit into the place for most is hashed as well, and so is the next short one', () => {
  const key = Buffer.from('a key');
  const hmac = hmacOf(key);
  for (const length of [0, 1365, 1366, 4096, 4097, 100_000, 3]) {
    for (const unit of ['a', 'ä', '語', '\ud800']) {
      const text = unit.repeat(length);

      expect(hmac(text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
    }
  }
});

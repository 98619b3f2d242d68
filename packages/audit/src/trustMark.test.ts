import { expect, test } from 'vitest';
import { isFarBehind, marksBefore, NO_TRUST, type TrustMark } from './trustMark.ts';

test('a chain is followed from the mark that leaves least to read, and at last from its first record', () => {
  const [near, far, beyond] = [markAt(900), markAt(10), markAt(1001)];

  expect(marksBefore(markAt(1000).head, [far, near])).toEqual([near, far, NO_TRUST]);
  expect(marksBefore(markAt(1000).head, [beyond, far])).toEqual([far, NO_TRUST]);
  expect(marksBefore(near.head, [near, NO_TRUST])).toEqual([near, NO_TRUST]);
  expect(marksBefore(NO_TRUST.head, [NO_TRUST, near])).toEqual([NO_TRUST]);
});

test('a mark is kept where the one before is far behind, or of a past that was given up', () => {
  expect(isFarBehind(markAt(900), markAt(1000).head)).toBe(false);
  expect(isFarBehind(markAt(800), markAt(1000).head)).toBe(true);
  expect(isFarBehind(markAt(1000), markAt(800).head)).toBe(true);
});

function markAt(seq: number): TrustMark {
  return { head: { seq, hash: `h${seq}` }, count: 1, digest: 'd' };
}

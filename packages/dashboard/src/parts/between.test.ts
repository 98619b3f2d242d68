import { expect, test } from 'vitest';
import { between } from './between.ts';

test.each([
  [0, 'just now'],
  [-30, '30 s ago'],
  [-90, '1 min ago'],
  [-7300, '2 h ago'],
  [-200_000, '2 d ago'],
  [3600, 'in 1 h'],
])('%i seconds from now is %s', (seconds, words) => {
  expect(between(1_000_000_000 + seconds * 1000, 1_000_000_000)).toBe(words);
});

import { expect, test } from 'vitest';
import { hasMoreValues } from './jsonWidth.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ['a list', '[1,2,3,4]', true],
  ['the values of an object', '{"a":1,"b":2,"c":{"d":3,"e":4}}', true],
  ['as many as may be', '[1,2,3]', false],
  ['commas in text', JSON.stringify({ a: ',,,,,,', b: '\\",,,,"' }), false],
])('values are counted by the commas between them: %s', (_, text, isMore) => {
  expect(hasMoreValues(bytes(text), 3)).toBe(isMore);
});

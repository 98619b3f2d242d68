import { expect, test } from 'vitest';
import { cutText, plainText } from './plainText.ts';

test('what a terminal obeys, what turns the direction and what has no width can be seen', () => {
  expect(plainText('\u001b[31mred')).toBe('‹001B›[31mred');
  expect(plainText('a\u202eb\u200bc')).toBe('a‹202E›b‹200B›c');
  expect(plainText('one\r\ntwo\tthree\n')).toBe('one\ntwo\tthree\n');
  expect(plainText('<b>bold</b> ü 漢')).toBe('<b>bold</b> ü 漢');
});

test('of a long text the beginning is shown, and how much is left is said', () => {
  expect(cutText('abcdef', 4)).toEqual({ shown: 'abcd', left: 2 });
  expect(cutText('abc', 4)).toEqual({ shown: 'abc', left: 0 });
});

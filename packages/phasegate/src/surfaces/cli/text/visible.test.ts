import { expect, test } from 'vitest';
import { visible, visibleJson } from './visible.ts';

test('what a terminal would obey is shown instead', () => {
  expect(visible('safe\u001b[2J\u001b]0;title\u0007', false)).toBe('safe\\u001b[2J\\u001b]0;title\\u0007');
  expect(visible('over\rwritten', false)).toBe('over\\u000dwritten');
  expect(visible('abc\u202edef', false)).toBe('abc\\u202edef');
  expect(visible('\u009b31m', false)).toBe('\\u009b31m');
});

test('line breaks and tabs stay', () => {
  expect(visible('a\r\n\tb\n', false)).toBe('a\r\n\tb\n');
});

test('our own colours stay where colours are in use, and nothing else does', () => {
  expect(visible('\u001b[31mred\u001b[39m', true)).toBe('\u001b[31mred\u001b[39m');
  expect(visible('\u001b[8mhidden', true)).toBe('\\u001b[8mhidden');
  expect(visible('\u001b[31mred', false)).toBe('\\u001b[31mred');
});

test('JSON keeps its value', () => {
  const value = { text: 'a\u009b\u202e\u007f\n' };
  const json = visibleJson(JSON.stringify(value, null, 2));

  expect(json).not.toMatch(/[\u007f-\u009f\u202e]/);
  expect(JSON.parse(json)).toEqual(value);
});

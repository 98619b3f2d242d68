import { expect, test } from 'vitest';
import { paintFor } from '../paint.ts';
import { visible, visibleJson } from './visible.ts';

test('what a terminal would obey is shown instead', () => {
  expect(visible('safe\u001b[2J\u001b]0;title\u0007', null)).toBe('safe\\u001b[2J\\u001b]0;title\\u0007');
  expect(visible('over\rwritten', null)).toBe('over\\u000dwritten');
  expect(visible('abc\u202edef', null)).toBe('abc\\u202edef');
  expect(visible('\u009b31m', null)).toBe('\\u009b31m');
});

test('line breaks and tabs stay', () => {
  expect(visible('a\r\n\tb\n', null)).toBe('a\r\n\tb\n');
});

test('our own colours stay where colours are in use, and nobody else’s do [adv.P7]', () => {
  const paint = paintFor(true);
  const agent = '\u001b[31mred\u001b[39m \u001b[8mhidden \u001b[31;1234;5678;1234;5678mguessed';
  const painted = `${paint.red('ours')} ${paint.bold(agent)}`;

  expect(visible(painted, paint.mark)).toBe(
    '\u001b[31mours\u001b[39m \u001b[1m\\u001b[31mred\\u001b[39m \\u001b[8mhidden \\u001b[31;1234;5678;1234;5678mguessed\u001b[22m',
  );
  expect(visible(agent, null)).not.toContain('\u001b');
  expect(visible(paint.red(`a ${paint.green('b')} c`), paint.mark)).toBe(
    '\u001b[31ma \u001b[32mb\u001b[39m\u001b[31m c\u001b[39m',
  );
});

test.each([
  '\u3164',
  '\u115f',
  '\uffa0',
  '\u200b',
  '\u2060',
  '\ufeff',
  '\u00ad',
  '\u2800',
  '\u00a0',
  '\u{e0041}',
])('a character that cannot be seen is shown, on a terminal and in JSON (%j) [adv.P7]', (character) => {
  const text = `yes${character}no`;

  expect(visible(text, null)).toMatch(/^yes\\u[0-9a-f{}]+no$/);
  const json = visibleJson(JSON.stringify({ text }));
  expect(json).not.toContain(character);
  expect(JSON.parse(json)).toEqual({ text });
});

test('JSON keeps its value', () => {
  const value = { text: 'a\u009b\u202e\u007f\n' };
  const json = visibleJson(JSON.stringify(value, null, 2));

  expect(json).not.toMatch(/[\u007f-\u009f\u202e]/);
  expect(JSON.parse(json)).toEqual(value);
});

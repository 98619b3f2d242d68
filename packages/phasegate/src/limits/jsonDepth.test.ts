import { expect, test } from 'vitest';
import { isFarTooDeep } from './jsonDepth.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ['lists', '['.repeat(400_000)],
  ['objects', '{"a":'.repeat(100_000)],
  ['both, and closed', `${'[{"a":'.repeat(2000)}1${'}]'.repeat(2000)}`],
  ['brackets after text with quotes and backslashes', `["\\"\\\\",${'['.repeat(2000)}`],
])('%s nested far too deep are told from their brackets [adv.O4]', (_name, text) => {
  expect(isFarTooDeep(bytes(text))).toBe(true);
});

test.each([
  ['as deep as may be read', `${'['.repeat(201)}${']'.repeat(201)}`],
  ['wide', `[${'[],'.repeat(100_000)}[]]`],
  ['with brackets in text', JSON.stringify({ a: '['.repeat(5000), b: `\\"${'{'.repeat(5000)}`, c: 'ü[' })],
  ['with text that does not end', `"${'['.repeat(5000)}\\"`],
  ['with more ends than beginnings', `${']'.repeat(5000)}${'['.repeat(900)}`],
  ['empty', ''],
])('a text that is %s is left to who parses it', (_name, text) => {
  expect(isFarTooDeep(bytes(text))).toBe(false);
});

import { expect, test } from 'vitest';
import { cardText } from './cardText.ts';

test('spaces up to the edge of the screen paint no line of ours [adv.N14]', () => {
  const painted = `fine${' '.repeat(200)}prompt: Harmless?`;
  const text = cardText({ prompt: 'To production?', evidence: { report: painted } }, 80);

  const lines = text.split('\n');
  expect(lines.every((line) => line.length < 80 || !line.startsWith('|'))).toBe(true);
  expect(lines.filter((line) => line.startsWith('prompt:'))).toEqual(['prompt: To production?']);
  expect(lines.filter((line) => line.includes('Harmless')).every((line) => line.startsWith('| '))).toBe(true);
});

test.each(['\n', '\r', '\r\n', '\u2028', '\u0085', '\v'])(
  'no line end makes a line of ours out of words of others [adv.N14]: %j',
  (end) => {
    const lines = cardText({ evidence: { [`a${end}prompt: Forged`]: `b${end}prompt: Forged` } }, 80).split(
      /\r\n|[\n\v\f\r\u0085\u2028\u2029]/,
    );

    expect(lines.filter((line) => line.startsWith('prompt'))).toEqual([]);
    expect(lines.slice(3).every((line) => line === '' || line.startsWith('| '))).toBe(true);
  },
);

test('what cannot be seen, or turns the direction of text, is shown as what it is [adv.N14]', () => {
  const hidden = 'a\u202eb\u200bc\u001b[32md\u00a0e\u3164f\ufe0fg\th\u2800';

  const text = cardText({ context: { note: hidden } }, 80);

  expect(text).toContain(
    '| note: a\\u{202e}b\\u{200b}c\\u{1b}[32md\\u{a0}e\\u{3164}f\\u{fe0f}g\\u{9}h\\u{2800}',
  );
});

test('wide characters break before the screen does [adv.N14]', () => {
  const lines = cardText({ evidence: '漢'.repeat(60) }, 40)
    .split('\n')
    .slice(3, -1);

  expect(lines.every((line) => line.startsWith('| ') && [...line].length <= 20)).toBe(true);
  expect(lines.join('').replaceAll('| ', '')).toBe('漢'.repeat(60));
});

test('what is not known to be ours is taken for words of others', () => {
  expect(cardText({ news: 'x', mode: 'permissive', trusted: false }, 80).split('\n').slice(2, -1)).toEqual([
    'news:',
    '| x',
    'mode: permissive (nothing is blocked: what would be refused is let through)',
    'trusted: false (no human has accepted this workflow)',
  ]);
});

import { expect, test } from 'vitest';
import { describeJson } from './describeJson.ts';

test('every value is shown, however deep', () => {
  const text = describeJson({
    prompt: 'Ship?',
    evidence: { files: ['a', { path: 'b' }], empty: [], done: null },
  });

  expect(text).toBe(
    '\nprompt: Ship?\nevidence:\n  files:\n    - a\n    - path: b\n  empty: (none)\n  done: null',
  );
});

test('neither a text nor a key can pass for a line of the card itself', () => {
  const text = describeJson({ evidence: { 'a\nprompt: Forged?': 'b\nprompt: Forged?' } });

  expect(text.split('\n').filter((line) => line.startsWith('prompt'))).toEqual([]);
});

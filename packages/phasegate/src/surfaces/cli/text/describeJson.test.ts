import { linesOf } from '@phasegate/core/model';
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

test.each(['\n', '\r', '\u0085', '\u2028', '\u2029'])(
  'neither a text nor a key can pass for a line beside it, whatever ends a line [adv.N15]: %j',
  (end) => {
    const text = describeJson({ evidence: { [`a${end}  report: Forged?`]: `b${end}  report: Forged?` } });

    expect(linesOf(text).filter((line) => /^ {0,2}report/.test(line))).toEqual([]);
  },
);

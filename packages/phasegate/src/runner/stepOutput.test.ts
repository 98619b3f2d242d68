import { expect, test } from 'vitest';
import { readJsonLine } from './stepOutput.ts';

test('a number no JSON has (1e999) in the last line of a command is not a result [adv.O1]', () => {
  const last = { text: '{"success": true, "result": {"score": 1e999}}', whole: true };

  expect(readJsonLine(last, 'the command')).toEqual({
    reason: 'the last line of the command has at `result.score` a number that JSON cannot hold',
  });
});

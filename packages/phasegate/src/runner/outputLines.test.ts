import { expect, test } from 'vitest';
import { LINE_LIMIT, outputLines } from './outputLines.ts';

const PASSED = '{"success": true, "result": {}}';

test.each([
  ['a line that another program began', '1 test failed {"success":false}\n'],
  ['a line of which more follows', '{"success":false} bye\n'],
  ['letters that are written by their numbers', '{"s\\u0075cces\\u0073":false}\n'],
  ['a line too long to be kept', `${'x'.repeat(LINE_LIMIT + 1)}{"success":false}\n`],
])('what a command says in %s cannot be taken back by a later line [adv.Q7]', (_, said) => {
  expect(lastOf(`${said}${PASSED}\n`)).toMatchObject({ text: PASSED, contradicts: true });
});

test('a first result that is said again takes back nothing that was said between [adv.Q7]', () => {
  const lines = `${PASSED}\n{"success": false}\n${PASSED}\n`;

  expect(lastOf(lines)).toMatchObject({ text: PASSED, contradicts: true });
});

test('a command may talk about anything else before its result, and say the same again', () => {
  const talk = 'success is near\n{"ok": true}\n"\\"success\\": false"\n';

  expect(lastOf(`${talk}${PASSED}\n${PASSED}\n`)).toEqual({ text: PASSED, whole: true });
});

function lastOf(output: string) {
  const lines = outputLines(() => undefined, { holdResult: true });
  for (let at = 0; at < output.length; at += 65_536) lines.push(Buffer.from(output.slice(at, at + 65_536)));
  lines.end();
  return lines.last();
}

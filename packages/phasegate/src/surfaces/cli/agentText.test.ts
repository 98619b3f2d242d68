import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { makeShell } from './fixtures/callCli.ts';
import { makePrompts } from './prompts.ts';

const WORKFLOW = 'workflow: one\nphases:\n  ONLY: { writes: [] }\n';
/** A colour, a title, the one-byte form of both, a turn of direction, and what has no shape. */
const HIDDEN = '\u001b[31m \u001b]0;owned\u0007 \u009b2J \u202e \u200b \u3164 \u2800';
const UNSEEN = ['\u0007', '\u009b', '\u202e', '\u200b', '\u3164', '\u2800'];

test.each([
  [['status', 'RUN']],
  [['status', 'RUN', '--json']],
  [['audit', 'tail', '--run', 'RUN']],
  [['audit', 'export', '--run', 'RUN']],
  [['audit', 'export', '--run', 'RUN', '--json']],
])(
  'what an agent wrote reaches a terminal without colours or invisible characters: %j [adv.P7]',
  async (words) => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
    const run = String((await shell.call(['start', 'one', '--json'])).json().run);
    await shell.call(['blocked', run, '--reason', `owned ${HIDDEN}`]);

    const { stdout, stderr } = await shell.call(words.map((word) => (word === 'RUN' ? run : word)));

    expect(stdout + stderr).toContain('owned');
    expect(['\u001b', ...UNSEEN].filter((character) => (stdout + stderr).includes(character))).toEqual([]);
  },
);

test('what is exported has the same value as it had', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  const run = String((await shell.call(['start', 'one', '--json'])).json().run);
  await shell.call(['blocked', run, '--reason', HIDDEN]);

  const { stdout } = await shell.call(['audit', 'export', '--run', run]);

  const values = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.stringify(JSON.parse(line)));
  expect(values.join('\n')).toContain(JSON.stringify(HIDDEN).slice(1, -1));
});

test('a choice that counts is not made by keys from before it, nor by the key that takes what stands there', async () => {
  let written = '';
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString('utf8');
      done();
    },
  });
  const choosing = async (early: string, keys: string) => {
    const input = new PassThrough();
    written = '';
    input.write(early);
    const chosen = makePrompts(input, output).choose('Ship it?', ['Approve', 'later'], 'later');
    await expect.poll(() => written).toContain('Ship it?');
    input.write(keys);
    return chosen;
  };

  expect(await choosing('\u001b[B\r', '\r')).toBe(null);
  expect(await choosing('', '\u001b[B\r')).toBe('Approve');
  expect(await choosing('', '\u001b[B\u001b[B\r')).toBe('later');
  const interrupted = new PassThrough();
  interrupted.write('\u0003');
  await expect(makePrompts(interrupted, output).forget()).rejects.toThrow('cancelled');
});

test('a question holds nothing that a terminal obeys', async () => {
  let written = '';
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString('utf8');
      done();
    },
  });
  const input = new PassThrough();
  const prompts = makePrompts(input, output);

  const chosen = prompts.select(`Accept ${HIDDEN}?`, [`yes ${HIDDEN}`, 'no']);
  await expect.poll(() => written).toContain('Accept');
  input.write('\r');

  expect(await chosen).toBe(`yes ${HIDDEN}`);
  expect([...UNSEEN, '\u001b]0;owned'].filter((character) => written.includes(character))).toEqual([]);
});

import { expect, test } from 'vitest';
import { makeShell, TESTED_PROJECT } from '../fixtures/callCli.ts';

test('export prints one record per line, and with --json one value', async () => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.call(['init', '--yes']);
  const run = String((await shell.call(['start', 'tdd', '--json'])).json().run);

  const lines = (await shell.call(['audit', 'export', '--run', run])).stdout.trimEnd().split('\n');
  const { records } = (await shell.call(['audit', 'export', '--run', run, '--json'])).json();

  expect(lines.map((line) => JSON.parse(line))).toEqual(records);
  expect(lines.length).toBeGreaterThan(0);
  expect((await shell.call(['audit', 'tail', '-n', '1'])).stdout.trimEnd().split('\n')).toHaveLength(1);
});

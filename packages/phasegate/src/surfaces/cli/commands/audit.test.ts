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

test('verify prints an anchor, and verifies since it', async () => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.call(['init', '--yes']);
  await shell.call(['start', 'tdd']);

  const { anchor } = (await shell.call(['audit', 'verify', '--anchor', '--json'])).json();
  const text = (await shell.call(['audit', 'verify', '--anchor'])).stdout;
  const since = await shell.call(['audit', 'verify', '--since', String(anchor), '--json']);
  const plain = await shell.call(['audit', 'verify', '--json']);
  const forged = await shell.call(['audit', 'verify', '--since', `${anchor}x`]);

  expect(text).toContain(`\nanchor: ${anchor}\n`);
  expect(since.json()).toMatchObject({ ok: true, runs: 1, findings: [] });
  expect(plain.json()).not.toHaveProperty('anchor');
  expect(forged.code).toBe(1);
  expect(forged.stdout).toContain("the anchor does not have the project's signature");
});

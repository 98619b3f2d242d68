import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from './commandTable.ts';
import { makeShell } from './fixtures/callCli.ts';

test('--help lists every command on stdout', async () => {
  const { code, stdout, stderr } = await makeShell().call(['--help']);

  expect(code).toBe(0);
  expect(stderr).toBe('');
  const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  for (const { name, summary } of COMMANDS) expect(lines).toContainEqual([name, summary]);
});

test.each(COMMANDS.map(({ name }) => name))('%s --help has a usage and examples', async (name) => {
  const { code, stdout } = await makeShell().call([name, '--help']);

  expect(code).toBe(0);
  expect(stdout).toContain(`Usage:\n  phasegate ${name}`);
  expect(stdout).toMatch(/Examples:\n {2}\S/);
  expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([]);
  expect(stdout.split('RUN may be left out').length).toBeLessThanOrEqual(2);
});

test('--version prints the version of the package', async () => {
  const { code, json } = await makeShell().call(['--version', '--json']);
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

  expect(code).toBe(0);
  expect(json()).toEqual({ version });
});

test('no command, an unknown one and an unknown option are wrong usage, with a suggestion', async () => {
  const shell = makeShell();

  expect((await shell.call([])).code).toBe(2);
  expect(await shell.call(['statsu', 'r1'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('there is no command `statsu` (did you mean `status`?)'),
  });
  for (const [typed, meant] of [
    ['stat', 'status'],
    ['dec', 'decide'],
  ] as const)
    expect((await shell.call([typed])).stderr).toContain(`\`${typed}\` (did you mean \`${meant}\`?)`);
  expect(await shell.call(['list', '--jsno'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('(did you mean `--json`?)'),
  });
});

test('a project folder that is not there is wrong usage, not an empty project', async () => {
  expect(await makeShell().call(['list', '--project', 'no/such/folder'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('`--project`: `no/such/folder` is not a folder'),
  });
});

test('with --json a fault is one JSON value on stdout', async () => {
  const { code, stderr, json } = await makeShell().call(['backup', 'one', 'two', '--json']);

  expect(code).toBe(2);
  expect(stderr).toBe('');
  expect(json()).toEqual({
    error: 'usage',
    message: '`phasegate backup` takes no argument `two`',
    hint: expect.stringContaining('usage: `phasegate backup'),
  });
});

test('no colour reaches what is not a terminal', async () => {
  const { stdout } = await makeShell().call(['--help']);

  expect(stdout).not.toContain('\u001b');
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

test('keeps what is there and does nothing the second time', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: mine\nphases: {A: {name: A, next: null}}\n',
  });

  expect((await shell.call(['init', '--yes', '--json'])).json()).toMatchObject({
    // The template's contract tests say nothing about this workflow.
    created: ['phasegate.config.yaml'],
    kept: ['agent_workflow.yaml'],
    human: null,
  });
  expect((await shell.call(['init', '--yes', '--json'])).json()).toMatchObject({
    created: [],
    kept: ['phasegate.config.yaml', 'agent_workflow.yaml'],
  });
  expect(readFileSync(join(shell.root, 'agent_workflow.yaml'), 'utf8')).toContain('workflow: mine');
});

test('accepts only what it wrote itself', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: mine\nphases: {A: {name: A, next: null}}\n',
  });

  expect((await shell.callAs('open sesame', ['init', '--json'])).json()).toMatchObject({ trusted: [] });
  expect((await shell.call(['start', 'mine', '--json'])).json()).toMatchObject({
    error: 'untrusted_workflow',
  });
  expect((await shell.callAs('open sesame', ['trust', 'mine', '--yes', '--json'])).json()).toMatchObject({
    trusted: [{ workflow: 'mine', by: 'maria' }],
  });
  expect((await shell.call(['start', 'mine', '--json'])).json()).toMatchObject({ trusted: true });
});

test('without a terminal it names what is missing and writes nothing [adv.M5 fail.43]', async () => {
  const shell = makeShell();

  const { code, stderr } = await shell.call(['init']);

  expect(code).toBe(2);
  expect(stderr).toContain('--passphrase-fd');
  expect(stderr).toContain('--yes');
  expect((await shell.call(['list', '--json'])).json()).toEqual({ workflows: [] });
});

test('over a setup with a human it needs that human', async () => {
  const shell = makeShell();
  await shell.callAs('open sesame', ['init']);

  expect((await shell.call(['init', '--yes'])).code).toBe(2);
  expect((await shell.callAs('guessed', ['init', '--yes'])).code).toBe(1);
  expect((await shell.callAs('open sesame', ['init', '--yes'])).code).toBe(0);
});

test('writes the port the server is to listen on, and says where it could not', async () => {
  const shell = makeShell();

  expect((await shell.call(['init', '--yes', '--port', '8123', '--json'])).code).toBe(0);
  expect(readFileSync(join(shell.root, 'phasegate.config.yaml'), 'utf8')).toMatch(/^port: 8123$/m);
  expect((await shell.call(['list', '--json'])).code).toBe(0);

  expect(await shell.call(['init', '--yes', '--port', '9000'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('write `port: 9000` into it'),
  });
  expect(readFileSync(join(shell.root, 'phasegate.config.yaml'), 'utf8')).not.toContain('9000');
  for (const port of ['0', '65536', 'eighty', '-1', '8e3']) {
    expect(await shell.call(['init', '--yes', `--port=${port}`])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('from 1 to 65535'),
    });
  }
});

test('an unknown template and settings for clients are refused', async () => {
  const shell = makeShell();

  expect(await shell.call(['init', '--template', 'tddd'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('(did you mean `tdd`?)'),
  });
  expect(await shell.call(['init', '--client', 'claude', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not in this release'),
  });
});

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell, TESTED_PROJECT } from '../fixtures/callCli.ts';

test.each([
  [['start', 'tdd']],
  [['runs']],
  [['list']],
  [['validate']],
  [['status', 'run-1']],
  [['next', 'run-1']],
  [['done', 'run-1']],
  [['claim']],
  [['humans', 'add', 'maria']],
  [['agents', 'add', 'ada']],
  [['audit', 'verify']],
  [['backup']],
  [['search', 'locks']],
  [['index']],
  [['check', 'tdd']],
  [['graph', 'tdd']],
  [['trust', 'tdd']],
])('%j in a folder that is not a project says so and makes no state', async (words) => {
  const shell = makeShell({ 'notes.md': '# Notes\n' });

  const called = await shell.call(words);

  expect(called.code).toBe(2);
  expect(called.stderr).toContain('is not a project');
  expect(called.stderr).toContain('phasegate init');
  expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
  expect(readdirSync(shell.root)).toEqual(['notes.md']);
});

test.each([
  ['a config', EMPTY_PROJECT],
  ['a workflow', { 'w.workflow.yaml': 'workflow: w\nphases: { A: {} }\n' }],
])('a folder with nothing but %s is one', async (_, files) => {
  const shell = makeShell(files);

  expect((await shell.call(['runs', '--json'])).json()).toEqual({ runs: [] });
});

test('a project whose files were removed is one while it has state', async () => {
  const shell = makeShell({ 'w.workflow.yaml': 'workflow: w\nphases: { A: {} }\n' });
  const { run } = (await shell.call(['start', 'w', '--json'])).json();
  shell.write('w.workflow.yaml', '');

  expect((await shell.call(['runs', '--json'])).json()).toMatchObject({ runs: [{ run }] });
});

test('what needs no project goes on without one', async () => {
  const shell = makeShell({ ...TESTED_PROJECT, 'tasks.md': '### Phase 1: Look\n- [ ] **Task 1.1**: Look\n' });

  expect((await shell.call(['tasks', join(shell.root, 'tasks.md')])).stderr).not.toContain('not a project');
  expect((await shell.call(['doctor'])).stderr).not.toContain('not a project');
  expect((await shell.call(['start', '--help'])).code).toBe(0);
  expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
  expect((await shell.call(['init', '--yes'])).code).toBe(0);
});

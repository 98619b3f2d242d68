import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { driveLocalRun } from '../../../localRunner.ts';
import type { Machine } from '../command.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = `workflow: book
database: { file: book.db, migrations: migrations }
phases:
  WRITE: { command: "/bin/echo '{\\"success\\":true}'" }
`;

const FIRST = 'CREATE TABLE chapters (title TEXT);';
const PLANTED = 'CREATE TABLE planted (x TEXT);';

test('a migration that was put there after the start is not applied [adv.Q5]', async () => {
  const { shell, run } = await started();
  shell.write('migrations/0002-planted.sql', PLANTED);
  shell.write('migrations/notes.sql', 'this is not a migration');

  const driven = await shell.callWith(MACHINE, ['run', run, '--json']);

  expect(driven.json()).toMatchObject({ outcome: 'completed' });
  expect(tablesIn(shell)).toEqual(['chapters']);
});

test('a migration that was changed after the start is not applied, and what to do is said [adv.Q5]', async () => {
  const { shell, run } = await started();
  shell.write('migrations/0001-chapters.sql', `${FIRST} ${PLANTED}`);

  const driven = await shell.callWith(MACHINE, ['run', run, '--json']);

  expect(driven.code).toBe(1);
  expect(driven.json()).toMatchObject({
    error: 'database_refused',
    message: 'the migration `0001-chapters.sql` is not what it was when the run was started',
    hint: expect.stringContaining('phasegate migrate'),
  });
  expect(tablesIn(shell)).toEqual([]);
});

test('a run that was started before a later migration goes on beside it', async () => {
  const { shell, run } = await started();
  shell.write('migrations/0002-more.sql', 'CREATE TABLE more (x TEXT);');
  const later = String((await shell.call(['start', 'book', '--json'])).json().run);
  expect((await shell.callWith(MACHINE, ['run', later, '--json'])).json()).toMatchObject({
    outcome: 'completed',
  });

  expect((await shell.callWith(MACHINE, ['run', run, '--json'])).json()).toMatchObject({
    outcome: 'completed',
  });

  expect(tablesIn(shell)).toEqual(['chapters', 'more']);
});

test('`database migrate` applies nothing that no human has accepted, where one is set up [adv.Q5]', async () => {
  const { shell } = await started();
  expect((await shell.callAs('open sesame', ['humans', 'add', 'maria', '--json'])).code).toBe(0);

  const refused = await shell.call(['database', 'migrate', 'book', '--json']);

  expect(refused.json()).toMatchObject({ error: 'untrusted_workflow', hint: 'phasegate trust book' });
  expect(tablesIn(shell)).toEqual([]);
});

async function started(): Promise<{ readonly shell: Shell; readonly run: string }> {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  mkdirSync(join(shell.root, 'migrations'));
  shell.write('migrations/0001-chapters.sql', FIRST);
  return { shell, run: String((await shell.call(['start', 'book', '--json'])).json().run) };
}

function tablesIn(shell: Shell): readonly string[] {
  const database = new DatabaseSync(join(shell.root, 'book.db'));
  try {
    const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    return rows.map(({ name }) => String(name)).filter((name) => name !== 'phasegate_migrations');
  } finally {
    database.close();
  }
}

const unused = () => Promise.reject(new Error('not asked for here'));

const MACHINE: Machine = {
  stopping: () => new AbortController().signal,
  serveMcp: unused,
  openServer: unused,
  spawnAgent: unused,
  driveRun: driveLocalRun,
  testWorkflow: unused,
  runLaunch: unused,
};

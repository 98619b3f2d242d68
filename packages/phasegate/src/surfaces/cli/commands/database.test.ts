import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { stateDirFor } from '../../../config.ts';
import { driveLocalRun } from '../../../localRunner.ts';
import type { Machine } from '../command.ts';
import { type Called, makeShell, type Shell } from '../fixtures/callCli.ts';

const STEP = `
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(process.env.PHASEGATE_DB);
  db.exec("UPDATE books SET title = title || '!'");
  db.close();
  console.log(JSON.stringify({ success: true, result: {} }));
`;

const BOOKS = `
workflow: books
database: { file: data/books.db, migrations: migrations, keep: 3 }
phases: { EDIT: { command: "${process.execPath} step.cjs" } }
`;

function makeProject(): Shell {
  const shell = makeShell({
    'step.cjs': STEP,
    'books.workflow.yaml': BOOKS,
    'plain.workflow.yaml': 'workflow: plain\nphases: { A: {} }\n',
  });
  for (const folder of ['migrations', 'data']) mkdirSync(join(shell.root, folder));
  shell.write(
    'migrations/0001-books.sql',
    'CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL);',
  );
  shell.write('migrations/0002-first.sql', "INSERT INTO books (title) VALUES ('Moby Dick');");
  return shell;
}

describe('a database that was never made', () => {
  test.each([
    [
      'a check',
      "postconditions: [{ name: 'has_books', check: (ctx) => ctx.db.all('SELECT 1 FROM books').length > 0 }]",
    ],
    ['a handler', "handler: (ctx) => [ctx.db.all('SELECT 1 FROM books').length > 0 ? 'ok' : 'fail', {}]"],
  ])(
    'that %s reads is not a failed attempt of the agent, and the cure is named',
    { timeout: 30_000 },
    async (_, line) => {
      const shell = makeShell({
        'b.workflow.ts': `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'b',
  database: { file: 'books.db' },
  steps: [{ name: 'A', instructions: 'Look.', ${line}, next: { ok: null } }],
});
`,
      });
      const run = String((await shell.call(['start', 'b', '--json'])).json().run);

      for (let time = 0; time < 2; time++) {
        const done = await shell.call(['done', run]);
        expect(done.code).toBe(2);
        expect(done.stderr).toContain('there is no database `books.db`');
        expect(done.stderr).toContain('make it');
      }
      const before = (await shell.call(['status', run, '--json'])).json();
      const book = new DatabaseSync(join(shell.root, 'books.db'));
      book.exec('CREATE TABLE books (title TEXT); INSERT INTO books VALUES (1)');
      book.close();

      expect(before).toMatchObject({ status: 'active', attempts: 0 });
      expect(await shell.call(['done', run])).toMatchObject({ code: 0 });
    },
  );
});

describe('database migrate', () => {
  test('makes the database by its migrations, each once [S3.74]', async () => {
    const shell = makeProject();

    const first = await shell.call(['database', 'migrate', 'books']);
    const again = await shell.call(['database', 'migrate', 'books', '--json']);

    expect(first).toMatchObject({ code: 0, stdout: 'applied 0001-books.sql, 0002-first.sql\n' });
    expect(again.json()).toEqual({ applied: [] });
    expect(titles(shell)).toEqual(['Moby Dick']);
  });

  test.each([
    ['a workflow without a database', ['migrate', 'plain'], 2, 'workflow `plain` has no database'],
    ['a workflow that is not there', ['migrate', 'book'], 1, '`book`'],
    ['no workflow', ['migrate'], 2, 'WORKFLOW is missing'],
    ['no backup', ['restore'], 2, 'BACKUP is missing'],
    ['an action there is none of', ['drop'], 2, '`backups`, `restore` and `migrate`'],
  ])('%s is refused', async (_name, words, code, message) => {
    expect(await makeProject().call(['database', ...words])).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
  });

  test('a migration that was changed after it was applied is refused [S3.74]', async () => {
    const shell = makeProject();
    await shell.call(['database', 'migrate', 'books']);
    shell.write('migrations/0002-first.sql', 'DROP TABLE books;');

    expect(await shell.call(['database', 'migrate', 'books', '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('was changed after it was applied'),
    });
    expect(titles(shell)).toEqual(['Moby Dick']);
  });
});

describe('database backups', () => {
  test('there are none before the first run', async () => {
    expect(await makeProject().call(['database', 'backups'])).toMatchObject({
      code: 0,
      stdout: 'no backups\n',
    });
  });

  test('each run has one, made before its first step, and can be asked for by its run [S3.31 S3.68 S3.77]', async () => {
    const shell = makeProject();
    const first = await drive(shell);
    const second = await drive(shell);

    const all = (await shell.call(['database', 'backups', '--json'])).json();
    const one = await shell.call(['database', 'backups', first]);

    expect(all).toMatchObject({ backups: [{ run: second }, { run: first }] });
    expect(one.stdout).toContain(first);
    expect(one.stdout).not.toContain(second);
    expect(titles(shell)).toEqual(['Moby Dick!!']);
  });
});

test('a backup that newer ones have taken the place of is said to be gone', async () => {
  const shell = makeProject();
  shell.write('books.workflow.yaml', BOOKS.replace('keep: 3', 'keep: 1'));
  await drive(shell);
  await drive(shell);

  expect((await shell.call(['database', 'backups', '--json'])).json()).toMatchObject({
    backups: [{ exists: true }, { exists: false }],
  });
  expect((await shell.call(['database', 'backups'])).stdout).toMatch(/\.db\n.*\.db \(removed\)\n$/);
});

describe('database restore', () => {
  test('is for a human: without one nothing is touched', async () => {
    const shell = makeProject();
    await drive(shell);
    const [{ id }] = await backupsOf(shell);

    expect(await shell.call(['database', 'restore', id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no_human'),
    });
    expect(titles(shell)).toEqual(['Moby Dick!']);
  });

  test('puts a backup back, and keeps what was there before', async () => {
    const shell = makeProject();
    await shell.call(['database', 'migrate', 'books']);
    const run = await drive(shell);
    await shell.callAs('open sesame', ['humans', 'add', 'maria']);
    const [{ id }] = await backupsOf(shell, run);

    const called = await shell.callAs('open sesame', ['database', 'restore', id, '--json']);

    expect(called.json()).toMatchObject({ restored: id, before: { id: expect.stringMatching(/^db-/) } });
    expect(titles(shell)).toEqual(['Moby Dick']);
    const { path } = called.json().before as unknown as Backup;
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path).includes('Moby Dick!')).toBe(true);
  });

  test('of a backup that was doctored, or that nobody has made, changes nothing [adv.P9]', async () => {
    const shell = makeProject();
    await shell.call(['database', 'migrate', 'books']);
    const run = await drive(shell);
    await shell.callAs('open sesame', ['humans', 'add', 'maria']);
    const [{ id, path }] = await backupsOf(shell, run);
    const doctored = new DatabaseSync(path);
    doctored.exec("UPDATE books SET title = 'Mine'");
    doctored.close();
    const state = new DatabaseSync(stateFile(shell));
    state
      .prepare(
        'INSERT INTO database_backups SELECT ?, created_at, path, workflow_run_id, size_bytes FROM database_backups',
      )
      .run('db-00000000000000aa');
    state.close();

    const refused = await shell.callAs('open sesame', ['database', 'restore', id, '--json']);
    const planted = await shell.callAs('open sesame', [
      'database',
      'restore',
      'db-00000000000000aa',
      '--json',
    ]);

    expect(refused.json()).toMatchObject({
      error: 'database_refused',
      message: expect.stringContaining('is not what it was when it was made'),
      hint: expect.stringContaining('phasegate database backups'),
    });
    expect(planted.json()).toMatchObject({
      error: 'database_refused',
      message: 'the backup `db-00000000000000aa` is not on record',
    });
    expect(titles(shell)).toEqual(['Moby Dick!']);
  });

  test('of one that is not there, or with a wrong passphrase, changes nothing', async () => {
    const shell = makeProject();
    await drive(shell);
    await shell.callAs('open sesame', ['humans', 'add', 'maria']);
    const [{ id }] = await backupsOf(shell);

    const wrong = await shell.callAs('guessed', ['database', 'restore', id]);
    const unknown = await shell.callAs('open sesame', ['database', 'restore', 'db-0000000000000000']);

    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('credential_invalid') });
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain('db-0000000000000000');
    expect(titles(shell)).toEqual(['Moby Dick!']);
  });
});

function stateFile(shell: Shell): string {
  return join(stateDirFor(shell.root, shell.env), 'state.db');
}

interface Backup {
  readonly id: string;
  readonly path: string;
}

async function backupsOf(shell: Shell, run?: string): Promise<[Backup, ...Backup[]]> {
  const words = ['database', 'backups', ...(run === undefined ? [] : [run]), '--json'];
  return (await shell.call(words)).json().backups as unknown as [Backup, ...Backup[]];
}

/** Drives a run of the workflow to its end, and gives its id. */
async function drive(shell: Shell): Promise<string> {
  const none = () => expect.fail('this is not asked for here');
  const machine: Machine = {
    serveMcp: none,
    openServer: none,
    spawnAgent: none,
    runLaunch: none,
    stopping: () => new AbortController().signal,
    driveRun: driveLocalRun,
    testWorkflow: none,
  };
  const called: Called = await shell.callWith(machine, ['run', 'books', '--json']);
  expect(called.json()).toMatchObject({ outcome: 'completed' });
  return String(called.json().run);
}

function titles(shell: Shell): readonly unknown[] {
  const database = new DatabaseSync(join(shell.root, 'data/books.db'), { readOnly: true });
  try {
    return database
      .prepare('SELECT title FROM books')
      .all()
      .map((row) => row.title);
  } finally {
    database.close();
  }
}

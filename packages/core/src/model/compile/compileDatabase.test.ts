import { describe, expect, test } from 'vitest';
import { started } from '../../engine/fixtures/walks.ts';
import { judgeTool } from '../../engine/judgeTool.ts';
import { defineWorkflow } from '../defineWorkflow.ts';
import type { PhaseDraft, WorkflowDraft } from '../draft.ts';

describe('the database of a workflow', () => {
  test('has a file, perhaps migrations, and ten backups unless it says otherwise', () => {
    expect(databaseOf({ file: './data/book.db' })).toEqual({
      file: 'data/book.db',
      migrations: null,
      keep: 10,
    });
    expect(databaseOf({ file: 'book.db', migrations: 'db/migrations/', keep: 3 })).toEqual({
      file: 'book.db',
      migrations: 'db/migrations',
      keep: 3,
    });
  });

  test('is absent from a workflow that has none, which keeps its hash', () => {
    const defined = define({});

    expect(defined.ok && 'database' in defined.workflow).toBe(false);
    expect(defined.ok && defined.workflow.phases.some((phase) => 'timeoutSeconds' in phase)).toBe(false);
  });

  test.each([
    '',
    '.',
    '/var/book.db',
    '../book.db',
    'data/../../book.db',
    'data//book.db',
    'C:/book.db',
    'data\\book.db',
    'file:book.db',
    ':memory:',
    'data/*.db',
    'a\0b',
    'x'.repeat(600),
  ])('at %j is not a file inside the project', (file) => {
    expect(problemsOf({ database: { file } })).toEqual([['database/file', 'bad_path']]);
    expect(problemsOf({ database: { file: 'book.db', migrations: file } })).toEqual([
      ['database/migrations', 'bad_path'],
    ]);
  });

  test.each(['.phasegate/book.db', 'workflows/book.db', '.git/book.db'])(
    'is none of the files of the guard: %s',
    (file) => {
      expect(problemsOf({ database: { file } })).toEqual([['database/file', 'guarded_path']]);
    },
  );

  test.each([0, -1, 1.5, 1001, Number.NaN])('keeps no %d backups', (keep) => {
    expect(problemsOf({ database: { file: 'book.db', keep } })).toEqual([['database/keep', 'bad_value']]);
  });

  test.each([
    '**',
    'data/**',
    'data/book.db',
    'data/*.db',
    'data/book.db-wal',
    'db/**',
    'data/backups/**',
    'db/migrations/????-*.sql',
    'db/migrations/0002-*',
    '**/*.sql',
    'db/*/[0-9]*.sql',
    '{docs,db/migrations}/*',
    'data/backups/book-2*.db',
    'd?ta/book.db-?hm',
  ])('and what stands behind it is in no write scope: %s [adv.Q5]', (glob) => {
    const database = { file: 'data/book.db', migrations: 'db/migrations' };

    expect(problemsOf({ database }, { writes: [glob] })).toEqual([['phases/0/writes/0', 'guarded_path']]);
    const constraints = { write_files: { allowed: [glob] } };
    expect(problemsOf({ database }, { toolConstraints: constraints })).toEqual([
      ['phases/0/toolConstraints/write_files/allowed/0', 'guarded_path'],
    ]);
    expect(problemsOf({}, { writes: [glob] })).toEqual([]);
  });

  test('stands beside a thousand write globs, and one problem names that limit', () => {
    const database = { file: 'data/book.db' };
    const globs = (count: number) => Array.from({ length: count }, (_, index) => `docs/${index}.md`);
    const split = (writes: readonly string[]) => ({
      database,
      phases: [
        { id: 'a', writes: writes.slice(0, 600) },
        { id: 'b', writes: [...writes.slice(600), 'docs/0.md'] },
      ],
    });

    expect(problemsOf(split(globs(1000)))).toEqual([]);
    const defined = define(split([...globs(1500), 'data/*.db']));
    expect(defined.ok || defined.problems).toEqual([
      {
        path: ['phases', 1, 'writes', 400],
        code: 'bad_value',
        message:
          'a workflow with a database has at most 1000 different write globs in all its phases; write fewer and wider ones',
        severity: 'error',
      },
    ]);
  });

  test('is looked at anew where its draft was corrected', () => {
    const database = { file: 'data/book.db' };
    const draft = { id: 'x', phases: [{ id: 'a', writes: ['data/*'] }], database };
    expect(defineWorkflow(draft, { checks: {} }).ok).toBe(false);

    database.file = 'book.db';
    expect(defineWorkflow(draft, { checks: {} }).ok).toBe(true);
    for (let turn = 0; turn < 3; turn += 1) {
      draft.phases[0] = { id: 'a', writes: Array.from({ length: 900 }, (_, at) => `docs/${turn}/${at}.md`) };
      expect(defineWorkflow(draft, { checks: {} }).ok).toBe(true);
    }
  });

  test('so that no writing tool reaches it', () => {
    const database = { file: 'data/book.db' };
    const defined = define({ database }, { allowedTools: ['write_files'], writes: ['chapters/**'] });
    if (!defined.ok) throw new Error(JSON.stringify(defined.problems));

    const run = started(defined.workflow);
    const write = (path: string) => judgeTool(run, { tool: 'write_files', input: { paths: [path] } });

    expect(write('chapters/1.md')).toEqual({ allowed: true });
    expect(write('data/book.db')).toMatchObject({ blockers: [{ code: 'outside_write_scope' }] });
  });
});

describe('how long a step may take', () => {
  test.each([
    [90, 90],
    ['90s', 90],
    ['5m', 300],
    ['2h', 7200],
    ['7d', 604_800],
  ])('%s is %d seconds', (timeout, seconds) => {
    const defined = define({}, { timeout });

    expect(defined.ok && defined.workflow.phases[0]?.timeoutSeconds).toBe(seconds);
  });

  test.each([0, -5, 1.5, Number.NaN, 604_801, '', 'soon', '5', '8d', '-5m'])(
    '%j is not a time',
    (timeout) => {
      expect(problemsOf({}, { timeout })).toEqual([['phases/0/timeout', 'bad_value']]);
    },
  );
});

function define(more: Partial<WorkflowDraft>, phase: Partial<PhaseDraft> = {}) {
  return defineWorkflow({ id: 'x', phases: [{ id: 'a', ...phase }], ...more }, { checks: {} });
}

function databaseOf(database: NonNullable<WorkflowDraft['database']>) {
  const defined = define({ database });
  return defined.ok ? defined.workflow.database : defined.problems;
}

function problemsOf(more: Partial<WorkflowDraft>, phase: Partial<PhaseDraft> = {}) {
  const defined = define(more, phase);
  return defined.ok ? [] : defined.problems.map((problem) => [problem.path.join('/'), problem.code]);
}

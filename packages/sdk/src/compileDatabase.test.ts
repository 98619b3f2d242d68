import { describe, expect, test } from 'vitest';
import { defineWorkflow } from './defineWorkflow.ts';
import type { WorkflowDefinition } from './definition.ts';

describe('a database in code', () => {
  test('is data in the draft, and its helpers are functions beside it [S3.66]', () => {
    const planExists = (db: { get(sql: string, id: string): unknown }, id: string) =>
      db.get('SELECT 1 FROM plans WHERE run = ?', id) !== undefined;
    const { draft, functions, kinds, problems } = defineWorkflow({
      type: 'x',
      database: { file: 'data/book.db', migrations: 'data/migrations', keep: 3, helpers: { planExists } },
      steps: [
        {
          name: 'a',
          timeout: '5m',
          postconditions: [{ name: 'plan_created', check: (ctx) => ctx.db.planExists(ctx.runId) }],
        },
        { name: 'b', timeout: 90, next: null },
      ],
    });

    expect(problems).toEqual([]);
    expect(draft.database).toEqual({ file: 'data/book.db', migrations: 'data/migrations', keep: 3 });
    expect(draft.phases.map((phase) => phase.timeout)).toEqual(['5m', 90]);
    expect(kinds).toEqual({
      'database/planExists': 'helper',
      'steps/a/postconditions/plan_created': 'check',
    });
    expect(functions['database/planExists']).toBe(planExists);
    expect(JSON.parse(JSON.stringify(draft))).toEqual(draft);
  });

  test('is absent where there is none', () => {
    expect(defineWorkflow({ type: 'x', steps: [{ name: 'a' }] }).draft).not.toHaveProperty('database');
  });

  test.each([
    [{}, 'database', 'missing_key'],
    ['data/book.db', 'database', 'wrong_type'],
    [{ file: 7 }, 'database/file', 'wrong_type'],
    [{ file: 'x', keep: '3' }, 'database/keep', 'wrong_type'],
    [{ file: 'x', migration: 'y' }, 'database/migration', 'unknown_key'],
    [{ file: 'x', helpers: [] }, 'database/helpers', 'wrong_type'],
    [{ file: 'x', helpers: { a: 'SELECT 1' } }, 'database/helpers/a', 'wrong_type'],
    [{ file: 'x', helpers: { run: () => 1 } }, 'database/helpers/run', 'bad_value'],
    [{ file: 'x', helpers: { then: () => 1 } }, 'database/helpers/then', 'bad_value'],
    [{ file: 'x', helpers: { 'a-b': () => 1 } }, 'database/helpers/a-b', 'bad_value'],
  ])('%j is reported where it stands', (database, path, code) => {
    const { problems } = defineWorkflow({ type: 'x', database, steps: [] } as unknown as WorkflowDefinition);

    expect(problems.map((problem) => [problem.path.join('/'), problem.code])).toEqual([[path, code]]);
  });
});

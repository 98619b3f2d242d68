import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createYamlLoader } from './yamlLoader.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'phasegate-yaml-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('a contract may have a database, and its phases a time limit', async () => {
  const { workflow, problems } = await load(`
workflow: books
database: { file: data/books.db, migrations: data/migrations, keep: 3 }
phases:
  WRITE: { command: node write.ts, timeout: 5m }
  CHECK: { command: node check.ts, timeout: 90 }
  END: {}
`);

  expect(problems).toEqual([]);
  expect(workflow?.database).toEqual({ file: 'data/books.db', migrations: 'data/migrations', keep: 3 });
  expect(workflow?.phases.map((phase) => phase.timeoutSeconds)).toEqual([300, 90, undefined]);
});

test('what is wrong with either is reported at its line', async () => {
  const { workflow, problems } = await load(`
workflow: books
database:
  file: ../books.db
phases:
  WRITE:
    timeout: soon
  END: {}
`);
  const shape = await load(`
workflow: books
database: { files: books.db, keep: 0 }
phases: { WRITE: { timeout: [5] } }
`);

  expect(workflow).toBeNull();
  expect(problems.map(({ line, column, code }) => `${line}:${column} ${code}`).sort()).toEqual([
    '4:9 bad_path',
    '7:14 bad_value',
  ]);
  expect(shape.problems.map(({ line, code }) => `${line} ${code}`)).toEqual([
    '3 missing_key',
    '3 unknown_key',
    '3 bad_value',
    '4 wrong_type',
  ]);
});

async function load(text: string) {
  await writeFile(join(root, 'x.workflow.yaml'), text);
  return createYamlLoader({ known: { checks: {} } }).load({ root, path: 'x.workflow.yaml' });
}

import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Standards, StandardsQuery } from '@phasegate/core/ports';
import { describe, expect, test } from 'vitest';
import { makeProject } from './fixtures/makeProject.ts';
import { indexFault } from './indexDatabase.ts';

const LOCKS = '# Locks\n\n## Order\n\nTake every mutex in one order, or a deadlock follows.\n';
const CACHE = '# Caching\n\nA stale entry is served while one caller recomputes it.\n';

describe('an index that is not right is made anew [fail.37]', () => {
  test.each([
    ['is not a database', (file: string) => writeFileSync(file, 'this is not a database at all, only text')],
    ['has another version', (file: string) => change(file, 'PRAGMA user_version=99')],
    ['lost its words', (file: string) => change(file, "INSERT INTO fts (fts) VALUES ('delete-all')")],
    ['lost its passages', (file: string) => change(file, 'DROP TRIGGER chunk_removed; DELETE FROM chunk')],
    ['lost a table', (file: string) => change(file, 'DROP TABLE chunk')],
  ])('when it %s', async (_, damage) => {
    const project = makeProject({ 'docs/locks.md': LOCKS });
    const before = project.open();
    await before.sync({ rebuild: false });
    await before.close();
    damage(project.database);

    const standards = project.open();

    expect(await filesFor(standards, { query: 'deadlock' })).toEqual(['docs/locks.md']);
    await standards.close();
  });

  test('also when it breaks under an open search', async () => {
    const project = makeProject({ 'docs/locks.md': LOCKS });
    const standards = project.open();
    await standards.sync({ rebuild: false });
    change(project.database, 'DROP TABLE fts');

    expect(await filesFor(standards, { query: 'deadlock' })).toEqual(['docs/locks.md']);
    await standards.close();
  });

  test('one that cannot be made is a fault, never an empty answer', async () => {
    const project = makeProject({ 'docs/locks.md': LOCKS });
    writeFileSync(project.stateDir, 'a file where a folder belongs');

    await expect(project.open().search({ query: 'deadlock' })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });

  test.skipIf(process.getuid?.() === 0)('neither is one in a folder that cannot be written', async () => {
    const project = makeProject({ 'docs/locks.md': LOCKS });
    mkdirSync(project.stateDir);
    chmodSync(project.stateDir, 0o500);

    await expect(project.open().search({ query: 'deadlock' })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });

  test('a Node without full-text search is named as the reason', () => {
    const error = Object.assign(new Error('no such module: fts5'), { code: 'ERR_SQLITE_ERROR', errcode: 1 });

    expect(indexFault(error, 'x.db')).toMatchObject({
      code: 'store_unavailable',
      hint: expect.stringContaining('22.16'),
    });
  });
});

test('several processes search the same project at once', async () => {
  const files = Array.from({ length: 40 }, (_, index) => [
    `docs/${index}.md`,
    `# Doc ${index}\n\nword${index} deadlock\n`,
  ]);
  const project = makeProject(Object.fromEntries(files) as Record<string, string>);
  const script = join(import.meta.dirname, 'fixtures/searchOnce.ts');

  const outputs = await Promise.all(
    [3, 7, 11].map((number) =>
      promisify(execFile)(process.execPath, [script, project.root, project.stateDir, `word${number}`]),
    ),
  );

  expect(outputs.map(({ stdout }) => stdout)).toEqual(
    [3, 7, 11].map((number) => `docs/${number}.md\n`.repeat(5)),
  );
});

test('searches of one process at the same time do not disturb each other', async () => {
  const project = makeProject({ 'docs/locks.md': LOCKS, 'docs/cache.md': CACHE });
  const standards = project.open();

  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      filesFor(standards, { query: index % 2 === 0 ? 'deadlock' : 'stale' }),
    ),
  );

  expect(answers.map(([file]) => file)).toEqual(
    Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'docs/locks.md' : 'docs/cache.md')),
  );
  await standards.close();
});

async function filesFor(standards: Standards, query: StandardsQuery): Promise<readonly string[]> {
  return (await standards.search(query)).results.map(({ file }) => file);
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

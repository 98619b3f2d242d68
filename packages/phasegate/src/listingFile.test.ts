import { existsSync, mkdtempSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLocalProject } from './localProject.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-listing-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

test('a project without state gets none by being looked at', async () => {
  const root = await project('p', { a: 'one', b: 'two' });
  const it = await openAt(root);

  await it.catalog.list();
  await it.catalog.validate([]);
  await it.catalog.load('one');

  expect(existsSync(join(folder, 'state'))).toBe(false);
});

test('an index that somebody changed, or of another project, hides no second file of a name', async () => {
  const root = await project('p', { a: 'one', b: 'two' });
  const other = await project('q', { a: 'one', b: 'two' });
  await started(root);
  await started(other);
  const [file, foreign] = [await indexOf(root), await indexOf(other)];
  const honest = await readFile(file, 'utf8');
  // Both have the same name now, and each wrong index knows the facts of the files as they are.
  await put(root, { b: 'one' });
  later();
  await expect(loaded(root)).rejects.toMatchObject({ code: 'workflow_ambiguous' });
  await put(root, { b: 'two' });
  later();
  await loaded(root);
  const stale = await readFile(file, 'utf8');
  await put(root, { b: 'one' });
  later();
  await expect(loaded(root)).rejects.toMatchObject({ code: 'workflow_ambiguous' });

  for (const text of [honest, stale, stale.replaceAll('"two"', '"six"'), `x${stale}`, '', '\n', '{}']) {
    await writeFile(file, text);
    await expect(loaded(root)).rejects.toMatchObject({ code: 'workflow_ambiguous' });
  }
  await copyFile(foreign, file);
  await expect(loaded(root)).rejects.toMatchObject({ code: 'workflow_ambiguous' });
});

test('an index with a name changed and its facts right is not read', async () => {
  const root = await project('p', { a: 'one', b: 'two', c: 'three' });
  await started(root);
  await put(root, { b: 'one' });
  later();
  // Another name is clear, and with it the index is written.
  await loaded(root, 'three');
  const file = await indexOf(root);
  const honest = await readFile(file, 'utf8');
  expect(honest.match(/"id":"one"/g)).toHaveLength(2);

  await writeFile(file, honest.replace(/"id":"one"(?!.*"id":"one")/s, '"id":"six"'));

  await expect(loaded(root)).rejects.toMatchObject({ code: 'workflow_ambiguous' });
});

test('an index that cannot be read or written is done without', async () => {
  const root = await project('p', { a: 'one' });
  await started(root);
  const file = await indexOf(root);
  await rm(file);
  await mkdir(file);
  later();

  expect(await loaded(root)).toMatchObject({ path: 'workflows/a.workflow.yaml' });
  expect(await readdir(join(file, '..'))).toHaveLength(1);
});

async function project(name: string, ids: Readonly<Record<string, string>>): Promise<string> {
  const root = join(folder, name);
  await mkdir(join(root, 'workflows'), { recursive: true });
  await put(root, ids);
  later();
  return root;
}

async function put(root: string, ids: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, id] of Object.entries(ids)) {
    const text = `workflow: ${id}\ntitle: Title of ${name}\nphases: { A: { instructions: Do it. } }\n`;
    await writeFile(join(root, `workflows/${name}.workflow.yaml`), text);
  }
}

function openAt(root: string) {
  return openLocalProject({ projectDir: root, env: { XDG_STATE_HOME: join(folder, 'state') } });
}

/** As another process would. */
async function loaded(root: string, name = 'one') {
  return (await openAt(root)).catalog.load(name);
}

async function started(root: string): Promise<void> {
  const opened = await (await openAt(root)).open();
  await opened.as({ kind: 'agent', name: 'local' }).start({ workflow: 'one' });
  await opened.close();
}

async function indexOf(root: string): Promise<string> {
  const listing = join((await openAt(root)).stateDir, 'listing');
  return join(listing, String((await readdir(listing))[0]));
}

/** Long after anything was written, so that all of it has settled. */
function later(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
}

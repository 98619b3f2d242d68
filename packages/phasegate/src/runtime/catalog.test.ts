import { mkdir, mkdtemp, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Json, PhasegateError } from '@phasegate/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCatalog } from './catalog.ts';
import { at, jsonLoader, later, memoryIndex, watching } from './fixtures/jsonLoader.ts';
import type { Loader } from './ports.ts';

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phasegate-catalog-'));
  root = join(folder, 'project');
  await mkdir(root);
});
afterEach(() => vi.useRealTimers());
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('finding', () => {
  test('looks in the workflow folders, at the root and where the config says, in a stable order [S4.27]', async () => {
    const found = [
      '.phasegate/workflows/b.flow.json',
      '.praxis-os/workflows/deep/er/c.flow.json',
      'a.flow.json',
      'elsewhere/x/d.flow.json',
      'workflows/e.flow.json',
    ];
    const passedOver = [
      'src/f.flow.json',
      'workflows/node_modules/g.flow.json',
      'workflows/.git/h.flow.json',
      'workflows/1/2/3/4/5/6/7/i.flow.json',
      'workflows/notes.md',
    ];
    for (const path of [...passedOver, ...found]) await put(path, { id: path });

    const entries = await catalog(['elsewhere/**/*.flow.json']).list();

    expect(entries.map((entry) => entry.path)).toEqual(found);
    expect(entries[0]).toMatchObject({ format: 'yaml', id: found[0] });
  });

  test('does not follow a link out of the project, be it a file, a folder or a workflow folder', async () => {
    await mkdir(join(folder, 'outside'));
    await writeFile(join(folder, 'outside', 'x.flow.json'), '{}');
    await symlink(join(folder, 'outside'), join(root, 'workflows'));
    await mkdir(join(root, '.phasegate', 'workflows'), { recursive: true });
    await symlink(join(folder, 'outside'), join(root, '.phasegate', 'workflows', 'linked'));
    await symlink(join(folder, 'outside', 'x.flow.json'), join(root, 'x.flow.json'));

    expect(await catalog().list()).toEqual([]);
  });

  test('takes 2,000 files, and says so where there are more', async () => {
    await mkdir(join(root, 'workflows'));
    await Promise.all(
      Array.from({ length: 2000 }, (_, n) => writeFile(join(root, 'workflows', `${n}.flow.json`), '{}')),
    );

    expect((await catalog().list()).length).toBe(2000);
    await writeFile(join(root, 'workflows', 'more.flow.json'), '{}');
    await expect(catalog().list()).rejects.toMatchObject({ code: 'too_large' });
  });
});

describe('loading', () => {
  test('by id, by title or by path, with the hashes of what was loaded', async () => {
    await put('workflows/a.flow.json', { id: 'release', title: 'A release' });

    const byId = await catalog().load('release');
    const same = { ...byId, placeOf: expect.any(Function) };

    expect(byId).toMatchObject({ path: 'workflows/a.flow.json', workflow: { id: 'release' }, notes: [] });
    expect(byId.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(byId.closure).toMatch(/^[0-9a-f]{64}$/);
    expect(await catalog().load('A release')).toEqual(same);
    expect(await catalog().load('workflows/a.flow.json')).toEqual(same);
    expect(await catalog().load(join(root, 'workflows/a.flow.json'))).toEqual(same);
  });

  test('a change of the files changes the closure, and a change of the meaning also the hash', async () => {
    await put('a.flow.json', { id: 'x' });
    const before = await catalog().load('x');
    await put('a.flow.json', { id: 'x', comment: 'more' });
    const commented = await catalog().load('x');
    await put('a.flow.json', { id: 'x', title: 'Other' });
    const renamed = await catalog().load('x');

    expect(commented.hash).toBe(before.hash);
    expect(commented.closure).not.toBe(before.closure);
    expect(renamed.hash).not.toBe(before.hash);
  });

  test('migrations of its database are part of what a human accepts', async () => {
    await put('a.flow.json', { id: 'x', database: { file: 'data/x.db', migrations: 'migrations' } });
    await mkdir(join(root, 'migrations'));
    await writeFile(join(root, 'migrations/0001-start.sql'), 'CREATE TABLE one (id)');
    const before = await catalog().load('x');
    await writeFile(join(root, 'migrations/0002-more.sql'), 'CREATE TABLE two (id)');
    const after = await catalog().load('x');

    expect(Object.keys(after.files)).toContain('migrations/0002-more.sql');
    // And a run keeps which they were: only those are applied for it.
    expect(after.hash).not.toBe(before.hash);
    expect(Object.keys(after.workflow.database?.accepted ?? {})).toEqual(['0001-start.sql', '0002-more.sql']);
    expect(after.closure).not.toBe(before.closure);
  });

  test('an unknown, an ambiguous and an invalid name each have their code', async () => {
    await put('a.flow.json', { id: 'twice' });
    await put('b.flow.json', { id: 'twice' });
    await put('c.flow.json', { id: 'broken', phases: [{ id: 'a', next: { to: 'nowhere' } }] });
    const faultOf = (name: string) =>
      catalog()
        .load(name)
        .then(
          () => null,
          (error: PhasegateError) => error,
        );

    expect(await faultOf('twise')).toMatchObject({
      code: 'workflow_unknown',
      message: expect.stringContaining('`twice`'),
    });
    expect(await faultOf('twice')).toMatchObject({
      code: 'workflow_ambiguous',
      message: expect.stringContaining('b.flow'),
      hint: 'phasegate start a.flow.json',
    });
    expect(await faultOf('broken')).toMatchObject({
      code: 'workflow_invalid',
      problems: [{ file: 'c.flow.json', code: 'unknown_phase' }, { code: 'no_end' }].slice(0, 1),
    });
    expect(await catalog().load('b.flow.json')).toMatchObject({ workflow: { id: 'twice' } });
  });
});

describe('validating', () => {
  test('everything found, or the named files and folders', async () => {
    await put('a.flow.json', { id: 'a' });
    await put('other/b.flow.json', { id: 'b', phases: [{ id: 'a', next: { to: 'nowhere' } }] });

    expect(await catalog().validate([])).toEqual({ checked: ['a.flow.json'], problems: [], unaccepted: [] });
    expect(await catalog().validate([join(root, 'other')])).toMatchObject({
      checked: ['other/b.flow.json'],
      problems: [{ file: 'other/b.flow.json', code: 'unknown_phase' }],
    });
    expect((await catalog().validate(['other/b.flow.json'])).checked).toEqual(['other/b.flow.json']);
  });

  test('a path that is not there or lies outside is a fault, a file of another kind a problem', async () => {
    await writeFile(join(folder, 'outside.flow.json'), '{}');
    await writeFile(join(root, 'notes.md'), '');

    await expect(catalog().validate(['none.flow.json'])).rejects.toMatchObject({ code: 'file_unreadable' });
    await expect(catalog().validate([join(folder, 'outside.flow.json')])).rejects.toMatchObject({
      code: 'path_outside',
    });
    expect((await catalog().validate(['notes.md'])).problems).toMatchObject([
      { file: 'notes.md', code: 'unknown_format' },
    ]);
  });
});

describe('looking again', () => {
  test('reads what changed and the workflow itself, and nothing else', async () => {
    await put('workflows/a.flow.json', { id: 'a' });
    await put('workflows/deep/b.flow.json', { id: 'b' });
    const { read, ...watched } = watching();
    const it = createCatalog({ root, loaders: [watched.loader], globs: [] });
    later();
    await it.load('a');
    read.length = 0;

    await it.load('a');
    await it.list();
    expect(read).toEqual(['load workflows/a.flow.json']);

    await put('workflows/deep/b.flow.json', { id: 'c' });
    await it.load('a');
    expect(read.slice(1)).toEqual(['peek workflows/deep/b.flow.json', 'load workflows/a.flow.json']);
  });

  test('reads a file again whose last change is too young to be told from a next one', async () => {
    await put('a.flow.json', { id: 'a' });
    await put('b.flow.json', { id: 'b' });
    const { read, loader: telling } = watching();
    // No digest is told, so that only reading tells what is in a file.
    const loader: Loader = { ...telling, peek: (file) => telling.peek(file) };
    const it = createCatalog({ root, loaders: [loader], globs: [] });
    at((await stat(join(root, 'b.flow.json'))).ctimeMs + 20);
    await it.load('a');
    read.length = 0;
    later();

    await it.load('a');
    expect(read).toContain('peek b.flow.json');
    read.length = 0;
    await it.load('a');
    expect(read).toEqual(['load a.flow.json']);
  });

  test('lets others work between two files that it reads', async () => {
    await put('a.flow.json', { id: 'a' });
    await put('b.flow.json', { id: 'b' });
    const order: string[] = [];
    const peek: Loader['peek'] = async ({ path }) => {
      order.push(path);
      setImmediate(() => order.push('others'));
      return { id: path, title: path, params: {}, trusted: true } as never;
    };
    await createCatalog({ root, loaders: [{ ...jsonLoader, peek }], globs: [] }).list();
    expect(order).toEqual(['a.flow.json', 'others', 'b.flow.json', 'others']);
  });

  test('finds a second file of the same name, however it came to be there', async () => {
    const it = catalog(['more/*.flow.json']);
    const ambiguous = () => expect(it.load('one')).rejects.toMatchObject({ code: 'workflow_ambiguous' });
    const other = join(root, 'workflows/b.flow.json');
    await put('workflows/a.flow.json', { id: 'one' });
    await put('workflows/b.flow.json', { id: 'two' });
    later();
    await it.load('one');
    const { atime, mtime } = await stat(other);

    // Of the same size, with the times put back.
    await put('workflows/b.flow.json', { id: 'one' });
    await utimes(other, atime, mtime);
    await ambiguous();

    await rename(other, join(folder, 'b.flow.json'));
    expect(await it.load('one')).toMatchObject({ path: 'workflows/a.flow.json' });
    await rename(join(folder, 'b.flow.json'), other);
    await ambiguous();
    await put('workflows/b.flow.json', { id: 'two' });
    expect(await it.load('one')).toMatchObject({ path: 'workflows/a.flow.json' });

    await put('more/c.flow.json', { id: 'one' });
    await ambiguous();
    await rm(join(root, 'more'), { recursive: true });
    await it.load('one');

    // A folder in the place of the one that was looked at.
    await put('workflows-next/a.flow.json', { id: 'one' });
    await put('workflows-next/b.flow.json', { id: 'one' });
    await rename(join(root, 'workflows'), join(folder, 'workflows'));
    await rename(join(root, 'workflows-next'), join(root, 'workflows'));
    await ambiguous();
  });

  test('a file that is not what was listed when it is read is looked for once more', async () => {
    await put('a.flow.json', { id: 'one' });
    await put('b.flow.json', { id: 'two' });
    const { loader } = watching();
    let before = async () => {};
    const it = createCatalog({
      root,
      globs: [],
      loaders: [{ ...loader, load: (file) => before().then(() => loader.load(file)) }],
    });
    later();
    await it.load('one');
    before = async () => {
      before = async () => {};
      await put('a.flow.json', { id: 'two' });
      await put('b.flow.json', { id: 'one' });
    };

    expect(await it.load('one')).toMatchObject({ path: 'b.flow.json', workflow: { id: 'one' } });
  });
});

describe('an index of an earlier process', () => {
  test('leads to the file, which alone is read', async () => {
    for (const id of ['a', 'b', 'c']) await put(`${id}.flow.json`, { id });
    const index = memoryIndex();
    later();
    await createCatalog({ root, loaders: [watching().loader], globs: [], index }).load('b');
    const { read, loader } = watching();

    const next = createCatalog({ root, loaders: [loader], globs: [], index });
    await next.load('b');
    expect(read).toEqual(['peek b.flow.json', 'load b.flow.json']);

    await put('c.flow.json', { id: 'b' });
    const third = createCatalog({ root, loaders: [loader], globs: [], index });
    await expect(third.load('b')).rejects.toMatchObject({ code: 'workflow_ambiguous' });
    expect((await next.list()).map(({ id }) => id)).toEqual(['a', 'b', 'b']);
  });

  test.each<[string, (text: string) => string | null]>([
    ['is gone', () => null],
    ['is empty', () => ''],
    ['is cut off', (text) => text.slice(0, -20)],
    ['is of another form', (text) => text.replace('"form":1', '"form":0')],
    ['is of other globs', (text) => text.replace('"globs":[]', '"globs":["x"]')],
    ['holds something else', (text) => text.replace('"looked":{}', '"looked":{"x":1}')],
    ['knows fewer files', (text) => JSON.stringify({ ...JSON.parse(text), files: [] })],
    [
      'has the names exchanged',
      (text) => text.replace(/"id":"(one|two)"/g, (_, id) => `"id":"${id === 'one' ? 'two' : 'one'}"`),
    ],
    ['knows no such name', (text) => text.replaceAll('"id":"one"', '"id":"none"')],
    ['has one name for all', (text) => text.replaceAll('"id":"two"', '"id":"one"')],
  ])('that %s costs time and changes nothing', async (_, change) => {
    await put('a.flow.json', { id: 'one', title: 'A' });
    await put('b.flow.json', { id: 'two', title: 'B' });
    const index = memoryIndex();
    later();
    await createCatalog({ root, loaders: [watching().loader], globs: [], index }).load('one');
    index.text = change(String(index.text));

    const next = createCatalog({ root, loaders: [watching().loader], globs: [], index });

    expect(await next.load('one')).toMatchObject({ path: 'a.flow.json', workflow: { id: 'one' } });
    expect(await next.load('two')).toMatchObject({ path: 'b.flow.json', workflow: { id: 'two' } });
  });
});

function catalog(globs: readonly string[] = []) {
  return createCatalog({ root, loaders: [jsonLoader], globs });
}

async function put(path: string, value: Json): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), JSON.stringify(value));
}

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createCatalog } from './catalog.ts';
import { tooMuch } from './listing/keptListing.ts';
import { placesOf } from './listing/places.ts';
import { findFiles, keptFiles } from './listing/projectFiles.ts';
import type { Loader } from './ports.ts';

function project() {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-bounds-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'workflows/a'), { recursive: true });
  const put = (path: string) => writeFileSync(join(root, 'workflows', path), '');
  const loader = {
    format: 'yaml',
    accepts: (path) => path.endsWith('.yaml'),
    peek: async ({ path }) => ({
      id: path.slice(path.lastIndexOf('/') + 1),
      title: 't',
      phases: null,
      problems: [],
    }),
    load: async ({ path }) => ({ workflow: null, problems: [], files: { [path]: 'x' } }),
  } satisfies Loader;
  return { root, put, loader, catalog: createCatalog({ root, globs: [], loaders: [loader] }) };
}

test('files that no loader takes hide no workflow', async () => {
  const { put, catalog } = project();
  for (let n = 0; n < 2100; n++) put(`a/${n}.txt`);
  put('z.yaml');

  expect((await catalog.list()).map(({ id }) => id)).toEqual(['z.yaml']);
});

test('more workflows than are looked at: no name is believed, and it is said; a path still is', async () => {
  const { put, catalog } = project();
  for (let n = 0; n <= 2000; n++) put(`a/${n}.yaml`);
  put('z.yaml');
  const fault = { code: 'too_large', message: expect.stringContaining('2000 workflow files') };

  await expect(catalog.list()).rejects.toMatchObject(fault);
  await expect(catalog.validate([])).rejects.toMatchObject(fault);
  await expect(catalog.load('z.yaml')).rejects.toMatchObject(fault);
  await expect(catalog.load('1.yaml')).rejects.toMatchObject(fault);
  for (const path of ['workflows/a/1.yaml', 'workflows/z.yaml'])
    await expect(catalog.load(path)).rejects.toMatchObject({ code: 'workflow_invalid' });
});

test('a file that lies among more than are looked at is started, and validated, by its path', async () => {
  const { put, catalog, root } = project();
  mkdirSync(join(root, 'workflows/deep'));
  for (let n = 0; n <= 2000; n++) put(`deep/${n}.yaml`);
  for (const path of ['deep/zz.yaml', 'deep/notes.txt']) put(path);
  mkdirSync(join(root, 'workflows/deep/folder.yaml'));
  symlinkSync('zz.yaml', join(root, 'workflows/deep/link.yaml'));
  writeFileSync(join(root, 'zz.yaml.d'), '');

  await expect(catalog.load('workflows/deep/zz.yaml')).rejects.toMatchObject({ code: 'workflow_invalid' });
  for (const path of ['notes.txt', 'folder.yaml', 'link.yaml', 'none.yaml'])
    await expect(catalog.load(`workflows/deep/${path}`)).rejects.toMatchObject({
      code: 'too_large',
      message: 'there are more than 2000 workflow files, most of them below `workflows/deep`',
      hint: expect.stringMatching(/^remove files below `workflows\/deep`; .*`phasegate start PATH`$/),
    });
  expect(await catalog.validate(['workflows/deep/zz.yaml'])).toMatchObject({
    checked: ['workflows/deep/zz.yaml'],
    problems: [{ file: 'workflows/deep/zz.yaml', code: 'too_large', severity: 'note' }],
  });
});

test('a file of a glob is started by its path alone, and only where a search would find it', async () => {
  const { root, loader } = project();
  for (const folder of ['a/b', 'c/node_modules', 'c/1/2/3/4/5/6'])
    mkdirSync(join(root, folder), { recursive: true });
  const found = ['a/b/x.yaml', 'c/x.yaml', 'c/1/2/3/4/5/x.yaml', 'x.yaml', 'workflows/a/x.yaml'];
  const passedOver = ['a/x.yaml', 'c/node_modules/x.yaml', 'c/1/2/3/4/5/6/x.yaml'];
  for (const path of [...found, ...passedOver]) writeFileSync(join(root, path), '');
  symlinkSync('b', join(root, 'a/link'));
  const asked: string[] = [];
  const peek: Loader['peek'] = (file) => {
    asked.push(file.path);
    return loader.peek(file);
  };
  const globs = ['./a/*/x.yaml', '{c,d}/**/*.yaml'];
  const it = createCatalog({ root, globs, loaders: [{ ...loader, peek }] });

  for (const path of found) {
    asked.length = 0;
    await expect(it.load(path)).rejects.toMatchObject({ code: 'workflow_invalid' });
    expect(asked).toEqual([path]);
  }
  for (const path of [...passedOver, 'a/link/x.yaml', 'a/b/../b/x.yaml', '../x.yaml'])
    await expect(it.load(path)).rejects.toMatchObject({ code: 'workflow_unknown' });
  expect((await it.list()).map(({ path }) => path)).toEqual([...found].sort());
});

test('folders that no glob leads to are not looked into', async () => {
  const listed: string[] = [];
  const tree: Record<string, readonly string[]> = {
    '': ['src', 'target'],
    src: ['a', 'b'],
    'src/a': ['flows'],
  };
  await findFiles('/project', placesOf(['src/{a,c}/flows/*.yaml', '*/a/*.yaml']), {
    isInside: (folder) => folder === 'src',
    entriesOf(folder) {
      listed.push(folder);
      return (tree[folder] ?? []).map((name) => ({ name, kind: 'folder' as const }));
    },
  });

  expect([...new Set(listed)]).toEqual(['', 'src', 'src/a', 'src/a/flows', 'target']);
});

test('the folders of a large repository keep no workflow from being found', async () => {
  const found = await findFiles('/project', placesOf(['**/*.workflow.yaml']), {
    isInside: (folder) => folder === '',
    entriesOf: (folder) => (folder === '' ? [folderOf('target')] : folder === 'target' ? many(90_000) : FILE),
  });

  expect(found).toMatchObject({ cut: { of: 'files', most: 2000, below: 'target' } });
  const less = await findFiles('/project', placesOf(['**/*.workflow.yaml', 'own/*.yaml']), {
    isInside: (folder) => folder === '',
    entriesOf: (folder) => {
      if (folder === '') return [folderOf('src'), folderOf('target')];
      return folder === 'target' ? many(90_000) : folder === 'src' ? FILE : [];
    },
  });
  expect(less).toEqual({ files: ['src/a.workflow.yaml'], cut: null });
});

test('folders without files are bounded for each place, others are served meanwhile, and it is said where', async () => {
  let listed = 0;
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const found = await findFiles('/project', placesOf(['**/*.yaml', 'flows/*.yaml']), {
    isInside: (folder) => folder === 'workflows' || folder === 'flows',
    entriesOf: (folder) => {
      listed += 1;
      if (folder === 'workflows') return [folderOf('deep'), ...FILE];
      if (folder === 'flows') return FILE;
      return folder === 'workflows/deep' ? many(300_000) : [];
    },
  });
  isOver = true;

  expect(found).toEqual({
    files: ['flows/a.workflow.yaml', 'workflows/a.workflow.yaml'],
    cut: { of: 'folders', most: 100_000, below: 'workflows/deep', byGlob: false },
  });
  expect(listed).toBeLessThan(100_010);
  expect(turns).toBeGreaterThan(100);
  expect(tooMuch({ of: 'folders', most: 100_000, below: '', byGlob: true })).toMatchObject({
    message: 'there are more than 100000 folders to look for workflows in, most of them below the project',
    hint: expect.stringContaining('narrow the globs under `workflows` in the config'),
  });
});

test('places that lie in each other give a file once, and the same list while nothing changes', async () => {
  const { root, put } = project();
  put('a/x.yaml');
  const find = keptFiles(root, placesOf(['**/*.yaml', 'workflows/**']), () => true);
  await find();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  const settled = await find();

  expect(settled).toEqual({ files: ['workflows/a/x.yaml'], cut: null });
  expect(await find()).toBe(settled);
});

const FILE = [{ name: 'a.workflow.yaml', kind: 'file' as const }];

function folderOf(name: string) {
  return { name, kind: 'folder' as const };
}

function many(count: number) {
  return Array.from({ length: count }, (_, n) => folderOf(`${n}`));
}

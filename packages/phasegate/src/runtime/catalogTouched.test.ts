import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCatalog } from './catalog.ts';
import { jsonLoader, later, memoryIndex, watching } from './fixtures/jsonLoader.ts';
import type { Loader } from './ports.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'phasegate-touched-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(root, { recursive: true });
});

test('of files that were only touched no bytes are parsed again, and others are served between them', async () => {
  for (const id of ['a', 'b', 'c']) await put(`${id}.flow.json`, { id });
  const index = memoryIndex();
  const { read, loader } = watching();
  const it = createCatalog({ root, loaders: [loader], globs: [], index });
  later();
  await it.load('a');
  await it.list();
  read.length = 0;
  for (const id of ['a', 'b', 'c']) await utimes(join(root, `${id}.flow.json`), 1, 1);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const before = index.text;

  await it.load('a');
  isOver = true;
  expect(read).toEqual(['load a.flow.json']);
  expect(turns).toBeGreaterThan(3);
  // The next process need not read them either.
  expect(index.text).not.toBe(before);
  const next = watching();
  await createCatalog({ root, loaders: [next.loader], globs: [], index }).load('b');
  expect(next.read).toEqual(['peek b.flow.json', 'load b.flow.json']);
  await utimes(join(root, 'c.flow.json'), 2, 2);
  const third = watching();
  await createCatalog({ root, loaders: [third.loader], globs: [], index }).load('b');
  expect(third.read).toEqual(['peek b.flow.json', 'load b.flow.json']);

  // Touched, and of the same size: the bytes alone say that it is another.
  await put('c.flow.json', { id: 'a' });
  await utimes(join(root, 'c.flow.json'), 1, 1);
  await expect(it.load('a')).rejects.toMatchObject({ code: 'workflow_ambiguous' });
});

test('for a name that nothing has all is read again, and only what is new is parsed', async () => {
  for (const id of ['a', 'b']) await put(`${id}.flow.json`, { id });
  const { read, loader } = watching();
  const it = createCatalog({ root, loaders: [loader], globs: [] });
  later();
  await it.load('a');
  read.length = 0;

  await expect(it.load('none')).rejects.toMatchObject({ code: 'workflow_unknown' });
  expect(read).toEqual([]);
  await put('b.flow.json', { id: 'none' });
  expect(await it.load('none')).toMatchObject({ path: 'b.flow.json' });
});

test('a file that was only touched is another where what lies beside it says so', async () => {
  await put('a.flow.json', { id: 'a' });
  const { loader } = watching();
  const peek: Loader['peek'] = async (file, peeking) =>
    peeking?.isThere('other') ? null : loader.peek(file, peeking);
  const it = createCatalog({ root, loaders: [{ ...loader, peek }], globs: [] });
  later();
  await it.load('a');
  await writeFile(join(root, 'other'), '');
  await utimes(join(root, 'a.flow.json'), 1, 1);

  for (const name of ['a', 'a.flow.json'])
    await expect(it.load(name)).rejects.toMatchObject({ code: 'workflow_unknown' });
});

test('a file on which a loader fails hides no other, and is tried again', async () => {
  for (const id of ['a', 'b']) await put(`${id}.flow.json`, { id });
  let fails = true;
  const peek: Loader['peek'] = (file) => {
    if (fails && file.path === 'b.flow.json') throw new RangeError('too deep');
    return jsonLoader.peek(file);
  };
  const it = createCatalog({ root, loaders: [{ ...jsonLoader, peek }], globs: [] });
  later();

  expect(await it.list()).toMatchObject([
    { id: 'a', problems: [] },
    {
      id: 'b',
      path: 'b.flow.json',
      problems: [{ code: 'internal', message: expect.stringContaining('too deep') }],
    },
  ]);
  expect(await it.load('a')).toMatchObject({ path: 'a.flow.json' });
  fails = false;
  expect(await it.list()).toMatchObject([{ id: 'a' }, { id: 'b', problems: [] }]);
});

test('a workflow that a loader fails on is described with its problem, beside the others', async () => {
  for (const id of ['a', 'b']) await put(`${id}.flow.json`, { id });
  const load: Loader['load'] = (file) => {
    if (file.path === 'a.flow.json') throw new RangeError(`too deep in ${file.root}`);
    return jsonLoader.load(file);
  };

  const described = await createCatalog({ root, loaders: [{ ...jsonLoader, load }], globs: [] }).describe();

  expect(described).toMatchObject([
    { id: 'a', problem: 'the file cannot be loaded' },
    { id: 'b', phases: 1 },
  ]);
});

test('a file of which many have the id is told of some', async () => {
  for (let n = 0; n < 20; n++) await put(`${n}.flow.json`, { id: 'same' });

  const [first] = await createCatalog({ root, loaders: [jsonLoader], globs: [] }).list();

  expect(first?.problems).toMatchObject([
    {
      code: 'duplicate_workflow',
      message: expect.stringMatching(/`10\.flow\.json`.* and more: give each its own$/),
    },
  ]);
});

function put(path: string, value: { readonly id: string; readonly title?: string }): Promise<void> {
  return writeFile(join(root, path), JSON.stringify(value));
}

test.each([
  ['a.flow.json', 'by its path'],
  ['a', 'by its name'],
])(
  'a file that changes between being listed and being read, each time, is not taken for what it was: %s, %s',
  async (name) => {
    await put('a.flow.json', { id: 'a' });
    const { loader } = watching();
    let changes = 0;
    const changing: Loader = {
      ...loader,
      async load(file) {
        changes += 1;
        await put('a.flow.json', { id: 'b' });
        const loaded = await loader.load(file);
        await put('a.flow.json', { id: 'a' });
        return loaded;
      },
    };
    const it = createCatalog({ root, loaders: [changing], globs: [] });

    await expect(it.load(name)).rejects.toMatchObject({
      code: 'file_unreadable',
      message: expect.stringContaining('changed each time'),
    });
    expect(changes).toBe(2);
  },
);

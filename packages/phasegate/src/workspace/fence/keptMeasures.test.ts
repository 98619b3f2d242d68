import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fence } from '@phasegate/core/ports';
import { expect, test } from 'vitest';
import { createContents } from './contents.ts';
import { createFence } from './fence.ts';

const NONE: ReadonlySet<string> = new Set();

test('runs in a workspace that nobody changes have one measure, and it is written once', async () => {
  const { fence, measures } = place();

  const trees = [];
  for (const run of ['one', 'two', 'three']) {
    const tree = await fence.measure(run);
    await fence.keep(run, [tree]);
    trees.push(tree);
  }

  expect(new Set(trees).size).toBe(1);
  expect(measures()).toEqual([`shared/${trees[0]}.json`]);
});

test('a measure that somebody removes is missing for the next command, however often it was asked for before', async () => {
  const { fence, folder, measures } = place();
  const tree = await kept(fence, 'one');
  expect(await kept(fence, 'two')).toBe(tree);
  expect(measures()).toEqual([`shared/${tree}.json`]);
  const together = await Promise.all(['one', 'two', 'one'].map((run) => fence.compare(run, tree)));
  expect(together.map(({ ok }) => ok)).toEqual([true, true, true]);

  rmSync(join(folder, 'shared', `${tree}.json`));

  expect(await fence.compare('one', tree)).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/missing/),
  });
});

test('a measure is on disk before a run is saved that has it, and not before it is needed', async () => {
  const { fence, again, write, measures } = place();
  const tree = await fence.measure('run');
  expect(await again().compare('run', tree)).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/missing/),
  });
  await fence.keep('run', [tree]);
  write('b.txt', 'b');

  // Refused, so that the run is saved as it was: its next measure is nobody's.
  const compared = await fence.compare('run', tree);

  expect(compared).toMatchObject({ ok: true, changes: [{ path: 'b.txt', how: 'added' }] });
  expect(measures()).toEqual([`own/${tree}.json`]);
  expect(await again().compare('run', tree)).toMatchObject({ ok: true, changes: [{ path: 'b.txt' }] });
});

test('what others have measured meanwhile takes no measure from a command, and goes with the one it was for', async () => {
  const { fence, write } = place();
  const entered = await kept(fence, 'ada');
  const names = Array.from({ length: 8 }, (_, index) => `b${index}.txt`);
  for (const name of names) write(name, 'b');
  const mine = await next(fence, entered, 'ada');

  const others = [];
  for (let which = 1; which < 255; which += 1) {
    const paths = names.filter((_, index) => (which >> index) % 2 === 1);
    others.push(await fence.accept('mallory', { tree: entered, seen: mine }, paths));
  }
  expect(new Set(others).size).toBe(254);

  expect(await fence.moved('ada', mine)).toEqual([]);
  await fence.release('mallory');
  await fence.keep('ada', [mine]);
  for (const tree of others) await expect(fence.moved('mallory', tree)).rejects.toThrow('missing');
});

test('a measure that two runs are about to have stays for the second when the first is done with it', async () => {
  const { fence, write, measures } = place();
  const entered = await kept(fence, 'one');
  write('b.txt', 'b');
  const [one, two] = [await fence.measure('one'), await fence.measure('two')];
  expect(two).toBe(one);

  await fence.keep('one', [one]);
  await fence.settle('one', { had: [one], has: [entered], inUse: async () => NONE });
  await fence.release('one');
  await fence.keep('two', [two]);

  expect(measures().map((file) => file.split('/')[1])).toContain(`${two}.json`);
});

test('a save that is lost leaves nothing behind, and takes nothing from the one who won', async () => {
  const { fence, write, measures } = place();
  const before = await kept(fence, 'run');
  write('b.txt', 'b');
  const [won, lost] = await Promise.all([next(fence, before), next(fence, before)]);
  expect(won).toBe(lost);

  await fence.keep('run', [won]);
  await fence.keep('run', [lost]);
  await fence.settle('run', { had: [lost], has: [before], inUse: async () => NONE });
  await fence.settle('run', { had: [before], has: [won], inUse: async () => NONE });

  expect(measures()).toEqual([`shared/${won}.json`]);
});

test('a run that is through with its measure drops it, unless another process gave it to another run', async () => {
  const { fence, again, write, measures } = place();
  const first = await kept(fence, 'one');
  await fence.settle('one', { had: [first], has: [], inUse: async () => NONE });
  const other = again();

  // The second process begins with what the last run left, and the first goes on.
  expect(await kept(other, 'two')).toBe(first);
  const mine = await kept(fence, 'three');
  write('b.txt', 'b');
  const second = await next(fence, mine, 'three');
  await fence.keep('three', [second]);
  await fence.settle('three', { had: [mine], has: [second], inUse: async () => NONE });

  expect(measures()).toEqual([`own/${second}.json`, `shared/${first}.json`]);
  expect(await other.compare('two', first)).toMatchObject({ ok: true, changes: [{ path: 'b.txt' }] });
  write('b.txt', 'bb');
  const third = await next(fence, second, 'three');
  await fence.keep('three', [third]);
  await fence.settle('three', { had: [second], has: [third], inUse: async () => NONE });
  expect(measures()).toEqual([`own/${third}.json`, `shared/${first}.json`]);
});

test('what no run has is swept once it is old; what a run has, what is young and the last one stay', async () => {
  const { fence, folder, measures } = place();
  const last = await kept(fence, 'run');
  mkdirSync(join(folder, 'shared'), { recursive: true });
  const old = new Date(Date.now() - 2 * 3_600_000);
  const put = (name: string, at: Date) => {
    writeFileSync(join(folder, name), 'x');
    utimesSync(join(folder, name), at, at);
  };
  const name = (n: number) => n.toString(16).padStart(64, '0');
  for (let n = 0; n < 40; n += 1) put(`shared/${name(n)}.json`, old);
  put(`own/${name(50)}.json`, old);
  put(`own/${name(51)}.json.7.part`, old);
  put(`shared/${name(60)}.json`, new Date());
  utimesSync(join(folder, 'own', `${last}.json`), old, old);

  // A run that ends is what makes it look.
  const used = new Set([name(3), name(50)]);
  await fence.settle('run', { had: [last], has: [], inUse: async () => used });

  const left = [`own/${name(50)}.json`, `shared/${name(3)}.json`, `shared/${name(60)}.json`];
  expect(measures()).toEqual([...left, `shared/${last}.json`].sort());
});

test('a sweep that cannot ask the runs drops nothing', async () => {
  const { fence, folder, measures } = place();
  const last = await kept(fence, 'run');
  const old = new Date(Date.now() - 2 * 3_600_000);
  for (let n = 0; n < 40; n += 1) {
    writeFileSync(join(folder, `own/${n}.json`), 'x');
    utimesSync(join(folder, `own/${n}.json`), old, old);
  }

  const settled = fence.settle('run', {
    had: [last],
    has: [],
    inUse: async () => Promise.reject(new Error('no database')),
  });

  await expect(settled).rejects.toThrow('no database');
  expect(measures().length).toBe(41);
});

test('measures that an earlier version left for each run are read, and go with their run', async () => {
  const { fence, again, folder, write, measures } = place();
  const tree = await kept(fence, 'run');
  mkdirSync(join(folder, 'runs/run'), { recursive: true });
  renameSync(join(folder, `own/${tree}.json`), join(folder, `runs/run/${tree}.json`));
  write('b.txt', 'b');
  const now = again();

  expect(await now.compare('other', tree)).toMatchObject({ ok: false });
  const compared = await now.compare('run', tree);
  expect(compared).toMatchObject({ ok: true, changes: [{ path: 'b.txt' }] });
  const after = (compared as { tree: string }).tree;
  await now.keep('run', [after]);
  await now.settle('run', { had: [tree], has: [after], inUse: async () => NONE });
  expect(readdirSync(join(folder, 'runs/run'))).toEqual([]);
  await now.settle('run', { had: [after], has: [], inUse: async () => NONE });

  expect(existsSync(join(folder, 'runs/run'))).toBe(false);
  expect(measures()).toEqual([`shared/${after}.json`]);
});

test('the measure that an earlier version kept for the next run serves it', async () => {
  const { fence, again, folder, measures } = place();
  const tree = await kept(fence, 'run');
  renameSync(join(folder, `own/${tree}.json`), join(folder, 'last.json'));

  const next = again();
  expect(await kept(next, 'next')).toBe(tree);

  expect(measures()).toEqual([`own/${tree}.json`]);
});

test('those who ask before a look begins share it, and all see what was done before', async () => {
  const { fence, write } = place();
  const tree = await kept(fence, 'run');

  const first = fence.compare('run', tree);
  write('b.txt', 'b');
  const second = fence.compare('run', tree);

  expect(await Promise.all([first, second])).toMatchObject([
    { changes: [{ path: 'b.txt' }] },
    { changes: [{ path: 'b.txt' }] },
  ]);
});

test('contents go with the last measure that has them, and never while one does', async () => {
  const { folder } = place();
  const contents = createContents(join(folder, 'contents'));
  const keep = (content: string, text: string) => {
    const keeping = contents.begin();
    keeping.keep(content, Buffer.from(text));
    keeping.end();
  };
  const [a, b] = [
    'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
    '3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d',
  ];
  keep(a, 'a');
  keep(b, 'b');

  contents.dropUnused(new Set([a]), -1);
  expect([contents.read(a)?.toString(), contents.read(b)]).toEqual(['a', null]);
  contents.dropUnused(NONE, 60_000);
  expect(contents.read(a)?.toString()).toBe('a');

  // Another process drops it: this one keeps it anew, though it remembers it.
  createContents(join(folder, 'contents')).dropUnused(NONE, -1);
  keep(a, 'a');
  expect(contents.read(a)?.toString()).toBe('a');
});

function place() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'measures-')));
  const [root, stateDir] = [join(base, 'project'), join(base, 'state')];
  const folder = join(stateDir, 'fence');
  mkdirSync(root);
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);
  write('a.txt', 'a');
  const again = () =>
    createFence({ root, stateDir, folder, env: {}, guardsOtherwise: async () => () => false });
  const measures = () =>
    ['own', 'shared'].flatMap((name) => {
      const names = existsSync(join(folder, name)) ? readdirSync(join(folder, name)) : [];
      return names
        .filter((one) => one !== 'swept')
        .map((one) => `${name}/${one}`)
        .sort();
    });
  return { fence: again(), again, folder, write, measures };
}

async function kept(fence: Fence, run: string): Promise<string> {
  const tree = await fence.measure(run);
  await fence.keep(run, [tree]);
  return tree;
}

async function next(fence: Fence, tree: string, run = 'run'): Promise<string> {
  const compared = await fence.compare(run, tree);
  return compared.ok ? compared.tree : compared.reason;
}

import { execFileSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fence } from '@phasegate/core/ports';
import { expect, test, vi } from 'vitest';
import { createFence } from './fence.ts';

const FILES = ['a.txt', 'src/one.ts', 'src/deep/two.ts', 'src/deep/three.ts', 'docs/d.md', '~/notes'];

/** Each by a way that leaves as few traces in dates as there is. */
const ACTS: readonly (readonly [string, (root: string) => void, readonly string[]])[] = [
  ['a file that came', (root) => writeFileSync(join(root, 'src/new.ts'), 'n'), ['added src/new.ts']],
  [
    'a file that came to a folder whose dates were put back',
    (root) => {
      const dates = join(root, '..', 'dates');
      execFileSync('touch', ['-r', join(root, 'src/deep'), dates]);
      writeFileSync(join(root, 'src/deep/new.ts'), 'n');
      execFileSync('touch', ['-r', dates, join(root, 'src/deep')]);
    },
    ['added src/deep/new.ts'],
  ],
  ['a file that went', (root) => rmSync(join(root, 'src/deep/two.ts')), ['removed src/deep/two.ts']],
  [
    'a file under another name',
    (root) => renameSync(join(root, 'docs/d.md'), join(root, 'docs/e.md')),
    ['removed docs/d.md', 'added docs/e.md'],
  ],
  [
    'two folders in the place of each other',
    (root) => {
      renameSync(join(root, 'src/deep'), join(root, 'other'));
      renameSync(join(root, 'docs'), join(root, 'src/deep'));
      renameSync(join(root, 'other'), join(root, 'docs'));
    },
    [
      'removed docs/d.md',
      'added docs/three.ts',
      'added docs/two.ts',
      'added src/deep/d.md',
      'removed src/deep/three.ts',
      'removed src/deep/two.ts',
    ],
  ],
  [
    'a folder that became a link to itself elsewhere',
    (root) => {
      renameSync(join(root, 'docs'), join(root, '..', 'docs-elsewhere'));
      symlinkSync(join(root, '..', 'docs-elsewhere'), join(root, 'docs'));
    },
    ['added docs', 'removed docs/d.md'],
  ],
  [
    'a file that became a folder',
    (root) => {
      rmSync(join(root, 'a.txt'));
      mkdirSync(join(root, 'a.txt'));
      writeFileSync(join(root, 'a.txt/inner'), 'i');
    },
    ['removed a.txt', 'added a.txt/inner'],
  ],
  [
    'a second name',
    (root) => linkSync(join(root, 'a.txt'), join(root, 'src/deep/linked')),
    ['added src/deep/linked'],
  ],
  [
    'a change in a folder that is listed as before',
    (root) => writeFileSync(join(root, 'src/one.ts'), '2'),
    ['changed src/one.ts'],
  ],
];

test.each(ACTS)('%s is seen by a fence that has listed the folders before', async (_, act, told) => {
  const { fence, root } = await settled();
  const tree = await fence.measure('run');
  await fence.keep('run', [tree]);
  for (let look = 0; look < 3; look += 1) expect(await changes(fence, tree)).toEqual([]);

  act(root);

  expect(await changes(fence, tree)).toEqual(told);
  // And again, from the lists that this look has made.
  expect(await changes(fence, tree)).toEqual(told);
});

test('what comes while nobody looks is found by every later look, also in a folder that is new itself', async () => {
  const { fence, root } = await settled();
  const tree = await fence.measure('run');
  await fence.keep('run', [tree]);
  const found: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    const folder = round % 2 === 0 ? 'src/deep' : `src/fresh${round % 3}`;
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, `${folder}/r${round}`), 'r');
    found.push(`added ${folder}/r${round}`);

    expect(await changes(fence, tree)).toEqual([...found].sort());
  }
});

async function changes(fence: Fence, tree: string): Promise<readonly string[]> {
  const compared = await fence.compare('run', tree);
  if (!compared.ok) throw new Error(compared.reason);
  return compared.changes.map(({ how, path }) => `${how} ${path}`);
}

/** A workspace whose folders are old enough to be told by their dates. */
async function settled(): Promise<{ readonly fence: Fence; readonly root: string }> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'lists-')));
  const root = join(base, 'project');
  for (const file of FILES) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), file);
  }
  const newest = lstatSync(join(root, '~')).ctimeMs;
  await vi.waitUntil(() => Date.now() > newest + 100, { interval: 5 });
  const stateDir = join(base, 'state');
  const guardsOtherwise = async () => () => false;
  const fence = createFence({
    root,
    stateDir,
    folder: join(stateDir, 'fence'),
    env: { HOME: base },
    guardsOtherwise,
  });
  return { fence, root };
}

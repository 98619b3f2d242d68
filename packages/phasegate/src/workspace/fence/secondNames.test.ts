import { expect, test } from 'vitest';
import { compareTrees, secondNames } from './compareTrees.ts';
import type { TreeEntry } from './manifest.ts';

const entry = (inode: bigint, links: bigint): TreeEntry => ({
  type: 'file',
  content: 'x',
  mode: 0o644,
  device: 1n,
  inode,
  size: 1n,
  mtime: 1n,
  ctime: 1n,
  links,
});

test('all names of a file share one list, however many it has, and those outside are counted among them', () => {
  const names = Array.from({ length: 2000 }, (_, index) => `out/${index}`);
  const after = new Map(names.map((name) => [name, entry(7n, 2001n)]));
  after.set('out/one', entry(8n, 2n));
  after.set('src/one', entry(8n, 2n));

  const changes = compareTrees({ entries: new Map() }, { entries: after }, () => null);
  const found = secondNames(changes, { entries: after });

  const lists = new Set(found.map(({ names: all }) => all));
  expect([...lists]).toEqual([
    [...names, null],
    ['out/one', 'src/one'],
  ]);
  expect(found).toHaveLength(2002);
});

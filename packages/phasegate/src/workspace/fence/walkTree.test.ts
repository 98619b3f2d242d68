import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFileSystems } from './fileSystems.ts';
import { compileIgnoreRules } from './ignoreRules.ts';
import { walkTree } from './walkTree.ts';

test('a file of a moment, listed and gone when it is read, is not there; another in its place is', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'walk-')));
  for (const name of ['gone.tmp', 'link.txt', 'stays.txt']) writeFileSync(join(root, name), name);

  const entries = await walkTree({
    root,
    rules: compileIgnoreRules([]),
    tracked: [],
    before: null,
    leaveOut: () => false,
    // Files are read after this: the time in which a program renames what it wrote.
    mapped: async () => {
      rmSync(join(root, 'gone.tmp'));
      rmSync(join(root, 'link.txt'));
      symlinkSync('stays.txt', join(root, 'link.txt'));
      return new Set<string>();
    },
    systems: createFileSystems(),
    keep: () => undefined,
  });

  expect([...entries].map(([path, { type }]) => [path, type])).toEqual([
    ['link.txt', 'link'],
    ['stays.txt', 'file'],
  ]);
});

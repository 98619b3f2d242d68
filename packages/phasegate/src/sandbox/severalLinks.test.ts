import { closeSync, linkSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from './fixtures/enclosing.ts';
import { severalLinks } from './severalLinks.ts';

test('files with a name elsewhere are found at every look, also where another folder took the place of theirs', async () => {
  const workspace = folderWith({ 'src/deep/a': 'a', 'src/b': 'b' });
  const place = join(workspace, 'src');
  const descriptor = openSync(place, 'r');
  onTestFinished(() => closeSync(descriptor));
  const look = () => severalLinks([{ path: 'src', place, descriptor }], (path) => path.startsWith('src/'));

  expect(await look()).toEqual([]);
  linkSync(join(place, 'deep/a'), join(workspace, 'second'));
  expect(await look()).toEqual(['src/deep/a']);
  renameSync(place, join(workspace, 'moved'));
  mkdirSync(place);
  expect(await look()).toEqual(['src/deep/a']);
});

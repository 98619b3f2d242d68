import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { existingPath } from './existingPath.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-path-')));
mkdirSync(join(base, 'in'));
symlinkSync(join(base, 'in'), join(base, 'link'));
symlinkSync('../out/new', join(base, 'in/dangling'));
symlinkSync('loop', join(base, 'loop'));

test.each([
  ['what is there', 'link', 'in', 'in'],
  ['what is missing behind it', 'link/a/../b/c', 'in/b/c', 'in'],
  ['a link to what is not there yet', 'link/dangling/x', 'out/new/x', ''],
  ['a link to itself', 'loop/x', 'loop/x', ''],
])('a path is followed as far as anything is there: %s', (_, path, real, there) => {
  expect(existingPath(join(base, path))).toEqual({ real: join(base, real), there: join(base, there) });
});

test('nothing is looked at behind the first part that is missing [adv.O3]', () => {
  // A look at every part, each from the root, would take minutes.
  const path = join(base, 'a/'.repeat(500_000), 'x');

  expect(existingPath(path)).toEqual({ real: path, there: base });
});

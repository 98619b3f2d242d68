import { expect, test } from 'vitest';
import { foldPaths } from './foldPaths.ts';

test('a crowd in one folder pushes no other folder behind the end', () => {
  const crowd = Array.from({ length: 500 }, (_, at) => `packages/a/${at}.ts`);

  const folded = foldPaths([...crowd, 'packages/z/evil.ts'], 10);

  expect(folded).toMatchObject({
    more: 491,
    folders: [
      { folder: 'packages/a/', count: 500 },
      { folder: 'packages/z/', count: 1 },
    ],
  });
  expect(folded.paths).toContain('packages/z/evil.ts');
  expect(folded.paths).toHaveLength(10);
});

test('few paths are told as they are, and of a crowd of folders the others are counted', () => {
  expect(foldPaths(['a', 'b/c'], 2)).toEqual({ paths: ['a', 'b/c'] });

  const { folders, moreFolders, more } = foldPaths(
    Array.from({ length: 250 }, (_, at) => `${at}/x`),
    20,
  );
  expect([folders?.length, moreFolders, more]).toEqual([200, 50, 230]);
});

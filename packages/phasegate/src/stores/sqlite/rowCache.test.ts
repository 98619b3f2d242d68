import { expect, test } from 'vitest';
import { createRowCache } from './rowCache.ts';

test('of rows that are large together only the last used are kept, and always one', () => {
  const { cache, read } = cacheOf({ most: 10, mostSize: 100 });
  for (const key of ['a 40', 'b 40', 'a 40', 'c 40']) cache.current(key);
  expect(read.splice(0)).toEqual(['a 40', 'b 40', 'c 40']);

  // The one that was used longest ago went.
  for (const key of ['a 40', 'c 40', 'b 40']) cache.current(key);
  expect(read.splice(0)).toEqual(['b 40']);

  // One that is larger than all may be stays while it is used, and pushes out no other.
  for (const key of ['d 500', 'd 500', 'c 40', 'b 40', 'd 500']) cache.current(key);
  expect(read.splice(0)).toEqual(['d 500', 'd 500']);
});

test('a row that grew counts as large as it is, and as nothing once it is gone', () => {
  const { cache, read } = cacheOf({ most: 10, mostSize: 100 });
  for (const key of ['a 30', 'b 30']) cache.current(key);
  cache.change('b 30', 'grown 90');
  cache.committed();
  cache.change('b 30', null);
  cache.committed();
  read.length = 0;

  for (const key of ['c 60', 'd 30', 'c 60', 'd 30']) cache.current(key);
  expect(read).toEqual(['c 60', 'd 30']);
});

test('no more rows are kept than may be, however small they are', () => {
  const { cache, read } = cacheOf({ most: 2 });
  for (const key of ['a 1', 'b 1', 'c 1', 'a 1']) cache.current(key);
  expect(read).toEqual(['a 1', 'b 1', 'c 1', 'a 1']);
});

test('two rows that are larger than all may be, used by turns, are read once and push out nothing', () => {
  const read: string[] = [];
  const cache = createRowCache<{ readonly key: string; readonly size: number }>({
    read(key) {
      read.push(key);
      return { key, size: key.startsWith('big') ? 76 : 1 };
    },
    unchanged: () => true,
    keeps: () => true,
    size: ({ size }) => size,
    light: (row) => ({ ...row, size: 1 }),
    most: 1000,
    mostSize: 64,
  });
  const honest = Array.from({ length: 40 }, (_, index) => `h${index}`);
  for (let round = 0; round < 5; round += 1) {
    for (const big of ['big1', 'big2', 'big3']) {
      cache.current(big);
      for (const key of honest) cache.current(key);
    }
  }

  expect(read.toSorted()).toEqual(['big1', 'big2', 'big3', ...honest].toSorted());
});

test('rows are made light, the one used longest ago first, before any of them goes', () => {
  const read: string[] = [];
  const lightened: string[] = [];
  const cache = createRowCache<{ readonly key: string; readonly size: number }>({
    read(key) {
      read.push(key);
      return { key, size: 60 };
    },
    unchanged: () => true,
    keeps: () => true,
    size: ({ size }) => size,
    light(row) {
      if (row.size === 1) return row;
      lightened.push(row.key);
      return { ...row, size: 1 };
    },
    most: 4,
    mostSize: 130,
  });
  const sizes = (keys: string) => [...keys].map((key) => cache.current(key)?.size);

  expect(sizes('abc')).toEqual([60, 60, 60]);
  expect(lightened).toEqual(['a']);
  expect(sizes('abcd')).toEqual([1, 60, 60, 60]);
  expect(lightened).toEqual(['a', 'b']);
  cache.change('b', { key: 'b', size: 60 });
  cache.committed();
  expect(sizes('abcd')).toEqual([1, 60, 1, 60]);
  expect(read).toEqual(['a', 'b', 'c', 'd']);
  // One more than may be kept: the one that was used longest ago goes, however light it is.
  expect(sizes('e')).toEqual([60]);
  expect(read.splice(4)).toEqual(['e']);
  expect(sizes('a')).toEqual([60]);
  expect(read.splice(4)).toEqual(['a']);
});

/** Rows that are their own keys, each with its size behind it. */
function cacheOf(bounds: { readonly most: number; readonly mostSize?: number }) {
  const read: string[] = [];
  const cache = createRowCache<string>({
    read(key) {
      read.push(key);
      return key;
    },
    unchanged: () => true,
    keeps: () => true,
    size: (row) => Number(row.split(' ')[1]),
    ...bounds,
  });
  return { cache, read };
}

import { expect, test } from 'vitest';
import { createRowCache } from './rowCache.ts';

test('of rows that are large together only the last used are kept, and always one', () => {
  const { cache, read } = cacheOf({ most: 100, mostSize: 160 });
  const keys = Array.from({ length: 16 }, (_, index) => `r${index} 10`);
  for (const key of [...keys, 'r0 10', 'more 10']) cache.current(key);
  expect(read.splice(0)).toEqual([...keys, 'more 10']);

  // The one that was used longest ago went.
  for (const key of ['r0 10', 'r2 10', 'r1 10']) cache.current(key);
  expect(read.splice(0)).toEqual(['r1 10']);

  // One that is larger than all may be stays while it is used, and pushes out no more than a row of its share.
  for (const key of ['d 500', 'd 500', 'r0 10', 'r2 10', 'd 500']) cache.current(key);
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

test('rows are made light, the one used longest ago first, before any of them goes, and large ones at once', () => {
  const read: string[] = [];
  const lightened: string[] = [];
  const cache = createRowCache<{ readonly key: string; readonly size: number }>({
    read(key) {
      read.push(key);
      return { key, size: key === 'large' ? 61 : 60 };
    },
    unchanged: () => true,
    keeps: () => true,
    size: ({ size }) => size,
    light(row) {
      if (row.size === 1) return row;
      lightened.push(row.key);
      return { ...row, size: 1 };
    },
    most: 18,
    mostSize: 16 * 60 + 1,
  });
  const sizes = (keys: string) => [...keys].map((key) => cache.current(key)?.size);
  const ROWS = 'abcdefghijklmnop';

  expect(sizes(ROWS)).toEqual([...ROWS].map(() => 60));
  expect(lightened).toEqual([]);
  expect(sizes('q')).toEqual([60]);
  expect(lightened).toEqual(['a']);
  expect(sizes('abq')).toEqual([1, 60, 60]);
  cache.change('a', { key: 'a', size: 60 });
  cache.committed();
  expect(lightened).toEqual(['a', 'c']);
  expect(cache.current('large')).toMatchObject({ size: 61 });
  expect(cache.current('large')).toMatchObject({ size: 1 });
  expect(lightened).toContain('large');
  expect(read).toEqual([...ROWS, 'q', 'large']);
  // One more than may be kept: the one that was used longest ago goes, however light it is.
  expect(sizes('zc')).toEqual([60, 60]);
  expect(read.splice(18)).toEqual(['z', 'c']);
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

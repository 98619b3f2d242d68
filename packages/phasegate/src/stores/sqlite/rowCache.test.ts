import { expect, test } from 'vitest';
import { createRowCache } from './rowCache.ts';

test('of rows that are large together only the last used are kept, and always one', () => {
  const { cache, read } = cacheOf({ most: 10, mostSize: 100 });
  for (const key of ['a 40', 'b 40', 'a 40', 'c 40']) cache.current(key);
  expect(read.splice(0)).toEqual(['a 40', 'b 40', 'c 40']);

  // The one that was used longest ago went.
  for (const key of ['a 40', 'c 40', 'b 40']) cache.current(key);
  expect(read.splice(0)).toEqual(['b 40']);

  for (const key of ['d 500', 'd 500', 'c 40', 'd 500']) cache.current(key);
  expect(read.splice(0)).toEqual(['d 500', 'c 40', 'd 500']);
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

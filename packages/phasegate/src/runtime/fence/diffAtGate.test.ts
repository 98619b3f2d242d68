import type { Run } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { MeasuredChange } from '../ports.ts';
import { diffAtGate, fileAtGate, filesAtGate } from './diffAtGate.ts';

const RUN = {
  id: 'r1',
  status: 'waiting',
  phase: 'A',
  workflow: { phases: [{ id: 'A', writes: ['**'] }] },
  work: { tree: 'before' },
  wait: { for: 'gate', tree: 'after' },
} as unknown as Run;

const fileOf = (content: string, mode = '644') => ({ type: 'file' as const, content, size: 1, mode });
const added = (path: string): MeasuredChange => ({ path, how: 'added', before: null, after: fileOf('n') });
const changed = (path: string): MeasuredChange => ({
  path,
  how: 'changed',
  before: fileOf('b'),
  after: fileOf('a', '755'),
});

async function shownOf(changes: readonly MeasuredChange[]) {
  const fence = { between: async () => changes, contentOf: async () => Buffer.from('text\n') };
  return diffAtGate(fence, RUN);
}

test('no crowd of new files and folders pushes a change of what was there before off the card', async () => {
  const crowd = Array.from({ length: 300 }, (_, at) => added(`d${at}/f`));

  const diff = await shownOf([...crowd, changed('zz/run.sh'), changed('zz/lib.js')]);

  const paths = diff?.files.map(({ path }) => path) ?? [];
  expect(paths).toEqual(expect.arrayContaining(['zz/run.sh', 'zz/lib.js']));
  expect([paths.length, diff?.rest?.files]).toEqual([60, 242]);
  const known = Array.from({ length: 100 }, (_, at) => changed(`src/f${at}`));
  const both = (await shownOf([...crowd, ...known]))?.files ?? [];
  expect(both.filter(({ how }) => how === 'changed')).toHaveLength(45);
  expect((await shownOf(known))?.files).toHaveLength(60);
});

test('other permissions are told beside another content, and count in the hash of what is not shown', async () => {
  const [one] = (await shownOf([changed('run.sh')]))?.files ?? [];
  const crowd = Array.from({ length: 70 }, (_, at) => added(`d${at}/f`));
  const runnable = crowd.map((change) => ({ ...change, after: fileOf('n', '755') }));

  expect(one).toMatchObject({ path: 'run.sh', permissions: 'were 644, are 755' });
  expect((await shownOf(crowd))?.rest?.hash).not.toBe((await shownOf(runnable))?.rest?.hash);
  expect((await shownOf(runnable))?.files[0]).toMatchObject({ permissions: 'are 755' });
});

test('every file is told without its contents, and one with them, also where the card has no room for it', async () => {
  const crowd = Array.from({ length: 300 }, (_, at) => added(`d${at}/f`));
  const large = { ...added('large.txt'), after: { ...fileOf('n'), size: 600_000 } };
  const fence = { between: async () => [...crowd, large], contentOf: async () => Buffer.from('text\n') };

  expect(await filesAtGate(fence, RUN)).toHaveLength(301);
  expect((await filesAtGate(fence, RUN))?.every((file) => !('texts' in file))).toBe(true);
  expect(await fileAtGate(fence, RUN, 'large.txt')).toMatchObject({ texts: { before: '', after: 'text\n' } });
  expect(await fileAtGate(fence, RUN, 'd299/f')).toMatchObject({ how: 'added', after: 'n' });
  expect(await fileAtGate(fence, RUN, 'other')).toBeNull();
  expect(await filesAtGate(fence, { ...RUN, status: 'active' } as unknown as Run)).toBeUndefined();
});

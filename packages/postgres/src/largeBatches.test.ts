import { hash } from 'node:crypto';
import { create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { openNode } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));

test('writes that come together are one transaction only up to a size, and each is written once all the same', async () => {
  const [url, seal] = [await freshSchema(), testSeal()];
  let sizes: number[] = [];
  const node = await openNode(url, seal, {
    limits: { batch: 50_000 },
    intercept: (query, kind) => async (text, values) => {
      if (kind === 'writing' && text === 'BEGIN') sizes.push(0);
      if (text.startsWith('INSERT INTO audit'))
        sizes.push((sizes.pop() ?? 0) + JSON.stringify(values).length);
      return query(text, values);
    },
  });
  const ids = Array.from({ length: 20 }, (_, index) => `r${index}`);
  for (const id of ids) await create(node, sampleRun(id));

  const noteAll = (notes: string) =>
    Promise.all(ids.map((id) => node.note(id, [sampleDraft('tool_judged', { notes })])));
  sizes = [];
  expect(await noteAll('x')).toEqual(ids.map(() => true));
  const small = sizes;
  sizes = [];
  expect(await noteAll('x'.repeat(20_000))).toEqual(ids.map(() => true));

  expect(small).toHaveLength(1);
  expect(sizes.length).toBeGreaterThan(5);
  expect(Math.max(...sizes)).toBeLessThan(80_000);
  expect(await node.verify()).toMatchObject({ ok: true, runs: 20, records: 80 });
});

test('a write that is larger than a transaction should be is written by itself, and one that fails fails alone', async () => {
  const node = await openNode(await freshSchema(), testSeal(), { limits: { batch: 1_000 } });
  const ids = ['r1', 'r2', 'r3', 'r4'];
  for (const id of ids) await create(node, sampleRun(id));
  const note = (id: string) => node.note(id, [sampleDraft('tool_judged', { notes: 'x'.repeat(5_000) })]);

  const told = await Promise.allSettled([...ids, 'nobody'].map(note));

  expect(told.slice(0, 4)).toEqual(ids.map(() => ({ status: 'fulfilled', value: true })));
  expect(told[4]).not.toMatchObject({ value: true });
  expect(await node.verify()).toMatchObject({ ok: true, runs: 4, records: 12 });
});

import { hash } from 'node:crypto';
import { afterDraft, create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { makeStateFolder } from '../../phasegate/src/stores/fixtures/openStores.ts';
import { openCopySource } from '../../phasegate/src/stores/sqlite/copySource.ts';
import { type CopySource, copyInto } from './copyInto.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';
import { openPostgresStore } from './openPostgresStore.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));

/** A source that ends as a process that is killed does, at the so-manieth row of a kind. */
function cutAt(source: CopySource, kind: 'audit' | 'texts' | 'table', rows: number): CopySource {
  const cut = () => {
    throw new Error('killed');
  };
  function* some(all: Iterable<object>): Iterable<never> {
    let count = 0;
    for (const row of all) {
      if (count++ === rows) cut();
      yield row as never;
    }
  }
  if (kind === 'table') return { ...source, table: cut };
  return { ...source, [kind]: (after: number) => some(source[kind](after)) };
}

test('a copy that is cut short anywhere is not a store, and is resumed; a large history comes with it', async () => {
  const folder = makeStateFolder();
  const store = folder.open();
  for (const id of ['r1', 'r2', 'r3']) {
    const run = sampleRun(id);
    await create(store, run);
    const evidence = { notes: 'x'.repeat(3000) };
    const done = { phase: 'PLAN', visit: 1, at: 't', by: 'ada', outcome: 'ok' as const, evidence };
    await store.save({ ...afterDraft(run), completions: [...run.completions, done] }, 1, [
      sampleDraft('phase_completed'),
    ]);
    for (let note = 0; note < 400; note += 1) await store.note(id, [sampleDraft('tool_judged', { note })]);
  }
  for (const hash of ['h1', 'h2', 'h1']) {
    const trust = { hash, workflow: 'w', files: { w: hash }, by: 'ada', at: 't', signature: hash };
    await store.putTrust(trust, [sampleDraft('workflow_trusted')]);
  }
  const [report, feed] = [await store.verify(), await store.feed(0, -1)];
  const accepted = await store.acceptances();
  const loaded = await store.load('r2');
  await store.close();
  const url = await freshSchema();
  const source = openCopySource(folder.file);
  const copy = (from: CopySource) => copyInto({ url, seal: folder.seal, source: from });
  for (const cut of [cutAt(source, 'audit', 700), cutAt(source, 'texts', 1), cutAt(source, 'table', 0)]) {
    await expect(copy(cut)).rejects.toMatchObject({ message: expect.stringContaining('killed') });
    await expect(openPostgresStore({ url, seal: folder.seal })).rejects.toMatchObject({
      code: 'store_unavailable',
      hint: expect.stringContaining('migrate-store'),
    });
  }

  // The head of the copy is signed over all of it at once.
  expect(await copy(source)).toEqual({ ...report, unanchored: 0 });
  source.close();

  const moved = await openNode(url, folder.seal);
  expect(await moved.feed(0, -1)).toEqual(feed);
  expect(await moved.load('r2')).toEqual(loaded);
  expect(await moved.acceptances()).toEqual(accepted);
  expect(await moved.note('r2', [sampleDraft('tool_judged')])).toBe(true);
  expect(await create(moved, sampleRun('r4'))).toBe(true);
  expect(await moved.verify()).toMatchObject({ ok: true, runs: 4 });
  folder.remove();
});

test('a copy that is cut short when it is whole is resumed, and is a store for the project that knows it alone', async () => {
  const folder = makeStateFolder();
  const store = folder.open();
  await create(store, sampleRun('r1'));
  await store.close();
  const [url, { seal }] = [await freshSchema(), folder];
  const copy = (onWhole: () => void) => {
    const source = openCopySource(folder.file);
    return copyInto({ url, seal, source, onWhole }).finally(() => source.close());
  };
  const cut = () => {
    throw new Error('killed');
  };

  await expect(copy(cut)).rejects.toMatchObject({ message: expect.stringContaining('killed') });
  await expect(openPostgresStore({ url, seal })).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(openPostgresStore({ url, seal: testSeal(), existed: true })).rejects.toMatchObject({
    hint: expect.stringContaining('migrate-store'),
  });
  // What came to the file meanwhile comes with it.
  const again = folder.open();
  await create(again, sampleRun('r2'));
  await again.close();
  let knows = false;
  const report = await copy(() => {
    knows = true;
  });
  expect([report.ok, report.runs, knows]).toEqual([true, 2, true]);

  await tamper(url, 'TRUNCATE runs, audit, humans; UPDATE heads SET place = 0');
  await expect(copy(cut)).rejects.toMatchObject({ message: expect.stringContaining('killed') });
  const known = await openPostgresStore({ url, seal, existed: true });
  expect(await known.verify()).toMatchObject({ ok: true, runs: 2 });
  await known.close();
  expect(await (await openNode(url, seal)).verify()).toMatchObject({ ok: true, runs: 2 });
  folder.remove();
});

test('nothing is copied into a database that is in use', async () => {
  const folder = makeStateFolder();
  await folder.open().close();
  const url = await freshSchema();
  const used = await openNode(url, folder.seal);
  await create(used, sampleRun('r1'));
  const source = openCopySource(folder.file);

  await expect(copyInto({ url, seal: folder.seal, source })).rejects.toMatchObject({ code: 'usage' });

  source.close();
  expect(await used.verify()).toMatchObject({ ok: true, runs: 1 });
});

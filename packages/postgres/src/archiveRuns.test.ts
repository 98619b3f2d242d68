import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run, RunEvent, Workflow } from '@phasegate/core';
import type { Store } from '@phasegate/core/ports';
import { afterDraft, create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));
const LATER = '2026-06-01T00:00:00.000Z';

function ended(id: string): Run {
  return afterDraft(sampleRun(id), { status: 'completed' } as Partial<Run>);
}

function fold(_: Workflow, events: readonly RunEvent[]): Run {
  const [first, ...rest] = events;
  if (first?.type !== 'run_started') throw new TypeError('a run begins with its start');
  return rest.length > 0 ? ended(first.id) : sampleRun(first.id);
}

async function end(store: Store, id: string): Promise<void> {
  const event = sampleDraft('phase_completed', { phase: 'DRAFT', notes: 'x'.repeat(2000) });
  await store.save(ended(id), 1, [event], { project: [sampleDraft('run_ended', {})] });
}

async function opened() {
  const [url, seal] = [await freshSchema(), testSeal()];
  const node = await openNode(url, seal, { fold });
  for (const id of ['r1', 'r2', 'r3']) await create(node, sampleRun(id));
  await end(node, 'r1');
  await end(node, 'r2');
  const file = join(mkdtempSync(join(tmpdir(), 'phasegate-archive-')), 'runs.jsonl');
  const order = { before: LATER, file, by: 'human:maria' };
  return { url, seal, node, file, order, another: () => openNode(url, seal, { fold }) };
}

test('runs that ended go to a signed file, their rows to nobody, and both verify; other nodes see that they are gone', async () => {
  const { url, node, file, order, another } = await opened();
  const other = await another();
  await other.load('r1');
  const before = await node.history('r1', { after: 0, limit: 100 });
  const newest = await node.feedEnd();

  expect(await node.archive?.(order)).toMatchObject({ file, runs: 2, records: 4 });

  expect(statSync(file).mode & 0o777).toBe(0o600);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const held = lines.map((line) => JSON.parse(line)).filter(({ run, seq }) => run === 'r1' && seq);
  expect(held.map(({ place: _, ...record }) => record)).toEqual(before);
  for (const store of [node, other]) {
    expect(await store.load('r1')).toBeUndefined();
    expect(await store.archivedRun?.('r1')).toMatchObject({ file });
    expect(await store.archivedRun?.('r3')).toBeUndefined();
    expect(await store.archiveFiles?.()).toMatchObject([{ file, runs: expect.any(Number) }]);
    expect((await store.list({})).map(({ run }) => run)).toEqual(['r3']);
    expect(await store.verify({ archives: [file] })).toMatchObject({
      ok: true,
      runs: 1,
      findings: [],
      archived: [{ runs: 2, verified: true }],
    });
  }
  expect((await node.history(null, { after: 0, limit: 100 })).at(-1)).toMatchObject({
    event: 'runs_archived',
    principal: 'human:maria',
    data: { file, runs: 2, records: 4 },
  });
  for (const table of ['audit', 'texts', 'run_heads'])
    expect(await tamper(url, `SELECT 1 FROM ${table} WHERE run NOT IN (0, (SELECT key FROM runs))`)).toEqual(
      [],
    );
  expect(await node.feedEnd()).toBeGreaterThan(newest);
  expect(await create(other, sampleRun('r1')).catch(() => false)).not.toBe(true);
  await create(node, sampleRun('r4'));
  expect(await node.verify()).toMatchObject({ ok: true, runs: 2 });
  expect(await node.archive?.({ ...order, file: `${file}.none` })).toBeNull();
  expect(existsSync(`${file}.none`)).toBe(false);
});

test('nothing is archived to a file that exists, of an audit that does not verify, or of a run that is changed meanwhile', async () => {
  const { url, seal, node, file, order } = await opened();
  writeFileSync(file, '');
  await expect(node.archive?.(order)).rejects.toMatchObject({ code: 'store_unavailable' });

  // Between its bundle and its removal another node writes to a run.
  const late = await openNode(url, seal, {
    fold,
    intercept: (query) => async (text, values) => {
      if (text.includes('ORDER BY r.key FOR UPDATE')) await node.note('r1', [sampleDraft('tool_judged')]);
      return query(text, values);
    },
  });
  await expect(late.archive?.({ ...order, file: `${file}.2` })).rejects.toMatchObject({
    code: 'run_changed',
  });
  expect(await node.load('r2')).toBeDefined();
  expect(await node.verify()).toMatchObject({ ok: true, runs: 3 });

  await tamper(url, "UPDATE audit SET principal = 'human:eve' WHERE event = 'phase_completed'");
  await expect(node.archive?.({ ...order, file: `${file}.3` })).rejects.toMatchObject({
    code: 'audit_broken',
  });
  expect(existsSync(`${file}.3`)).toBe(false);
});

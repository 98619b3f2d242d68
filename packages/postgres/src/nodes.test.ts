import { hash } from 'node:crypto';
import type { Seal, Store, StoredRun } from '@phasegate/core/ports';
import { afterDraft, create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test, vi } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import type { Intercept } from './database.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const seal: Seal = testSeal();
const { sampleRun } = samplesWith((text) => hash('sha256', text));

test('several nodes that open an empty database at once make its tables once, and all can write', async () => {
  const url = await freshSchema();
  const nodes = await Promise.all([1, 2, 3, 4].map(() => openNode(url, seal)));

  const made = await Promise.all(nodes.map((node, index) => create(node, sampleRun(`r${index}`))));

  expect(made).toEqual([true, true, true, true]);
  expect(await nodes[0]?.verify()).toMatchObject({ ok: true, runs: 4, unanchored: 0 });
});

test('of two nodes that write the same version of a run one wins, again and again', async () => {
  const url = await freshSchema();
  const [one, other] = [await openNode(url, seal), await openNode(url, seal)];
  const run = sampleRun('r1');
  await create(one, run);
  let wins = 0;
  for (let version = 1; version <= 20; version += 1) {
    const next = afterDraft(run, { epoch: version + 1 });
    const tried = await Promise.all(
      [one, other].map((node) => node.save(next, version, [sampleDraft('phase_completed')])),
    );
    wins += tried.filter(Boolean).length;
  }

  expect(wins).toBe(20);
  expect((await other.load('r1'))?.version).toBe(21);
  expect((await one.history('r1', { after: 0, limit: -1 })).length).toBe(21);
});

test('many items that nodes complete in turn are for each of them as the others left them', async () => {
  const url = await freshSchema();
  const nodes = [await openNode(url, seal), await openNode(url, seal)];
  const item = { status: 'pending', value: null, evidence: null, attempts: 0, error: null } as const;
  const keys = Array.from({ length: 50 }, (_, index) => `area-${index}`);
  const run = sampleRun('r1');
  const items = Object.fromEntries(keys.map((key) => [key, item]));
  await create(nodes[0] as Store, { ...run, work: { ...run.work, items } });

  for (const [index, key] of keys.slice(0, 24).entries()) {
    const node = nodes[index % 2] as Store;
    const { run: found, version } = (await node.load('r1')) as StoredRun;
    const evidence = { text: `${key} is done `.repeat(index) };
    const done = { ...found.work.items, [key]: { ...item, status: 'completed', evidence } } as const;
    const next = { ...found, work: { ...found.work, items: done } };
    expect(await node.save(next, version, [sampleDraft('item_completed', { evidence })])).toBe(true);
  }

  const fresh = await openNode(url, seal);
  const all = Object.values((await fresh.load('r1'))?.run.work.items ?? {});
  expect(all.map(({ status }) => status)).toEqual(
    keys.map((_, index) => (index < 24 ? 'completed' : 'pending')),
  );
  expect(await fresh.verify()).toMatchObject({ ok: true, runs: 1 });
  const kinds =
    'SELECT kind, count(*)::integer AS rows FROM texts WHERE kind > 0 GROUP BY kind ORDER BY kind';
  expect(await tamper(url, kinds)).toEqual([
    { kind: 3, rows: 1 },
    { kind: 4, rows: 24 },
  ]);
});

test('of items that change again and again no more is kept than what they are made from', async () => {
  const url = await freshSchema();
  const nodes = [await openNode(url, seal), await openNode(url, seal)];
  const item = { status: 'pending', value: null, evidence: null, attempts: 0, error: null } as const;
  const run = sampleRun('r1');
  const items = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`area-${index}`, item]));
  await create(nodes[0] as Store, { ...run, work: { ...run.work, items } });
  const kept = 'SELECT sum(length(text))::integer AS kept FROM texts WHERE kind > 2';

  for (let version = 1; version <= 200; version += 1) {
    const node = nodes[version % 2] as Store;
    const { run: found } = (await node.load('r1')) as StoredRun;
    const changed = {
      ...found.work.items,
      'area-3': { ...item, error: `${version} is not it. `.repeat(300) },
    };
    const next = { ...found, work: { ...found.work, items: changed } };
    expect(await node.save(next, version, [sampleDraft('item_claimed')])).toBe(true);
  }

  const [row] = (await tamper(url, kept)) as readonly { readonly kept: number }[];
  // Two hundred changes are some 900,000 characters.
  expect(row?.kept).toBeLessThan(300_000);
  const fresh = await openNode(url, seal);
  expect((await fresh.load('r1'))?.run.work).toEqual((await nodes[0]?.load('r1'))?.run.work);
  expect(await fresh.verify()).toMatchObject({ ok: true, runs: 1 });
});

test('a reader of the feed who goes on behind what it has seen misses nothing, however nodes commit', async () => {
  const url = await freshSchema();
  const writers = [await openNode(url, seal), await openNode(url, seal), await openNode(url, seal)];
  const reader = await openNode(url, seal);
  await Promise.all(writers.map((node, index) => create(node, sampleRun(`r${index}`))));
  let writing = true;
  const seen: number[] = [];
  const follow = async () => {
    for (let last = 0; ; ) {
      const ended = !writing;
      const page = await reader.feed(last, 50);
      seen.push(...page.map(({ id }) => id));
      last = page.at(-1)?.id ?? last;
      if (ended && page.length === 0) return;
    }
  };
  const following = follow();
  await Promise.all(
    writers.map(async (node, index) => {
      for (let count = 0; count < 40; count += 1) await node.note(`r${index}`, [sampleDraft('tool_judged')]);
    }),
  );
  writing = false;
  await following;

  const all = await reader.feed(0, -1);
  expect(seen).toEqual(all.map(({ id }) => id));
  expect(all.length).toBe(3 * 2 + 3 * 40);
});

test('a node hears of what another one commits', async () => {
  const url = await freshSchema();
  const [one, other] = [await openNode(url, seal), await openNode(url, seal)];
  const heard = vi.fn();
  other.onCommit(heard);
  await vi.waitFor(() => expect(heard).toHaveBeenCalled());
  heard.mockClear();

  await one.note(null, [sampleDraft('server_started')]);

  await vi.waitFor(() => expect(heard).toHaveBeenCalled());
});

/** Cuts the connection at the first commit that is asked for: before it is done, or after. */
function cutAtCommit(when: 'before' | 'after'): { readonly intercept: Intercept; cut(): boolean } {
  let cut = false;
  let armed = false;
  return {
    cut: () => cut,
    intercept: (query, kind) => async (text, values) => {
      if (text.startsWith('INSERT INTO audit')) armed = true;
      if (kind !== 'writing' || text !== 'COMMIT' || cut || !armed) return query(text, values);
      cut = true;
      if (when === 'after') await query(text, values);
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    },
  };
}

test.each(['before', 'after'] as const)(
  'a write whose connection breaks right %s its commit is there once, and its caller is told',
  async (when) => {
    const url = await freshSchema();
    const { intercept, cut } = cutAtCommit(when);
    const node = await openNode(url, seal, { intercept });

    expect(await create(node, sampleRun('r1'))).toBe(true);

    expect(cut()).toBe(true);
    expect((await node.history('r1', { after: 0, limit: -1 })).length).toBe(1);
    expect(await node.verify()).toMatchObject({ ok: true, runs: 1, records: 2 });
  },
);

test('one write that cannot be stored fails alone, and those of its moment are written', async () => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await create(node, sampleRun('r1'));
  const bad = { ...sampleDraft('tool_judged'), principal: 'agent:a\0b' };

  const noted = await Promise.allSettled([
    node.note('r1', [sampleDraft('tool_judged')]),
    node.note('r1', [bad]),
    node.note('r1', [sampleDraft('tool_judged')]),
  ]);

  expect(noted.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(noted[1]).toMatchObject({ reason: { code: 'request_invalid' } });
  expect(await node.verify()).toMatchObject({ ok: true, records: 4 });
});

test('a node with other keys reads nothing as its own and writes nothing', async () => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await create(node, sampleRun('r1'));
  const stranger = await openNode(url, testSeal());

  await expect(stranger.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
  await expect(create(stranger, sampleRun('r2'))).rejects.toMatchObject({
    code: 'audit_broken',
    message: expect.stringContaining('other keys'),
  });
  expect(await node.load('r2')).toBeUndefined();
  expect(await node.verify()).toMatchObject({ ok: true, runs: 1 });
});

test.each([
  ['an edited record', "UPDATE audit SET data = '{}' WHERE run <> 0 AND seq = 1", 'record_edited'],
  ['a record that is gone', 'DELETE FROM audit WHERE era = 0 AND seq = 1', 'record_missing'],
  ['an edited state', "UPDATE runs SET state = replace(state, '1', '2')", 'state_edited'],
  ['an edited column', "UPDATE runs SET holder = 'eve'", 'state_edited'],
  ['a run that is gone', "DELETE FROM runs WHERE id = 'r1'", 'run_dropped'],
  ['an edited head', 'UPDATE heads SET project_seq = project_seq + 1', 'head_invalid'],
])('verification finds %s', async (_, sql, kind) => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await create(node, sampleRun('r1'));
  await create(node, sampleRun('r2'));

  await tamper(url, sql);

  const { ok, findings } = await node.verify();
  expect(ok).toBe(false);
  expect(findings.map((finding) => finding.kind)).toContain(kind);
});

test('a node goes by the clock of the database, however wrong its own is', async () => {
  const url = await freshSchema();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => 0);
  try {
    const node = await openNode(url, seal);
    const [row] = (await tamper(url, 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')) as {
      now: string;
    }[];
    const [first, second] = [node.now?.() ?? 0, node.now?.() ?? 0];

    expect(Math.abs(first - Number(row?.now))).toBeLessThan(60_000);
    expect(second).toBeGreaterThanOrEqual(first);
  } finally {
    clock.mockRestore();
  }
});

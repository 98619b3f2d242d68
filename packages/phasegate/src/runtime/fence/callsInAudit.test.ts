import type { Json, Run } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openMemoryProject } from '../fixtures/openMemoryProject.ts';
import type { FeedRecord, FeedSince } from '../ports.ts';
import { type AllowedCall, isWithin } from './allowedCall.ts';
import { createCallsInAudit } from './callsInAudit.ts';
import { heldIn, isBeside } from './heldIn.ts';
import { createKeptCalls, type KeptCalls } from './keptCalls.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-03-01T12:00:00.000Z');
const at = (minutes: number) => new Date(START + minutes * MINUTE).toISOString();

for (const kind of ['memory', 'sqlite'] as const) {
  test(`a look reads what was recorded since the last one, and keeps nothing of what explains no change (${kind})`, async () => {
    const { audit, record, bob, handed, kept } = await bed(kind);
    await record(
      Array.from({ length: 2500 }, (_, n) =>
        judged(bob, { tool: 'read_files', path: `f${n % 7}`, time: at(1) }),
      ),
    );
    await record([judged(bob, { tool: 'write_files', path: 'a', time: at(1) })]);

    const first = await audit.since(entered(bob, 0), [{ path: 'a' }]);
    const read = handed();
    for (let n = 0; n < 20; n += 1) await audit.since(entered(bob, 0), [{ path: 'a' }]);
    const again = handed();
    await record([judged(bob, { tool: 'write_files', path: 'a', time: at(2) })]);
    const second = await audit.since(entered(bob, 1), [{ path: 'a' }, { path: 'b' }]);

    expect(first.calls).toMatchObject([{ tool: 'write_files', wrote: ['a'], carriedOut: false }]);
    expect(read).toBeGreaterThan(2500);
    expect(again).toBe(read);
    expect(handed()).toBe(read + 1);
    expect(second.calls.map(({ started }) => new Date(started).toISOString())).toEqual([at(1), at(2)]);
    expect(kept()).toEqual({ calls: 2, open: 1, handovers: 0 });
  });
}

test('all who ask together share one reading, and one who asks meanwhile gets what was there then', async () => {
  const { audit, record, bob, queries, handed } = await bed('memory');
  await record([judged(bob, { tool: 'write_files', path: 'a', time: at(1) })]);
  const looks = Array.from({ length: 10 }, () => audit.since(entered(bob, 0), [{ path: 'a' }]));
  await Promise.resolve();
  const begun = queries.length;
  await record([judged(bob, { tool: 'edit_file', path: 'a', time: at(2) })]);
  const late = await audit.since(entered(bob, 0), [{ path: 'a' }]);

  for (const { calls } of await Promise.all(looks)) expect(calls[0]).toMatchObject({ tool: 'write_files' });
  expect(begun).toBeLessThanOrEqual(1);
  expect(late.calls.map(({ tool }) => tool)).toEqual(['write_files', 'edit_file']);
  expect(queries.length).toBeLessThanOrEqual(2);
  expect(handed()).toBeLessThanOrEqual(3);
});

test('others have a turn after each page, and what is recorded meanwhile is left to the next look', async () => {
  const { audit, record, bob, queries } = await bed('memory');
  const some = (count: number) =>
    record(Array.from({ length: count }, () => judged(bob, { tool: 'bash', command: 'ls', time: at(1) })));
  await some(3500);
  const turns: number[] = [];
  let isOver = false;
  // Somebody who never stops: a page more at each turn.
  const others = (async () => {
    while (!isOver && turns.length < 50) {
      await new Promise((resolve) => setImmediate(resolve));
      turns.push(queries.length);
      await some(1000);
    }
  })();
  await audit.since(entered(bob, 0), [{ path: 'a' }]);
  isOver = true;
  await others;

  expect(queries.length).toBeLessThanOrEqual(6);
  expect(new Set(turns).size).toBeGreaterThanOrEqual(3);
});

test('runs that go back further and further make it read again only seldom', async () => {
  const { audit, record, bob, queries } = await bed('memory');
  await record([judged(bob, { tool: 'write_files', path: 'a', time: at(-900) })]);
  for (let minute = 0; minute > -1000; minute -= 1) await audit.since(entered(bob, minute), [{ path: 'a' }]);
  const { calls } = await audit.since(entered(bob, -901), [{ path: 'a' }]);

  expect(calls).toHaveLength(1);
  expect(queries.length).toBeLessThan(12);
});

test('a call ends where it was carried out, whatever else goes on, also when that is recorded after a look', async () => {
  const { audit, record, bob } = await bed('sqlite');
  await record([
    judged(bob, { tool: 'write_files', path: 'a', time: at(1), call: 'call-1' }),
    judged(bob, { tool: 'write_files', path: 'b', time: at(1), call: 'call-2' }),
    judged(bob, { tool: 'bash', command: 'make', time: at(1), call: 'call-3' }),
    judged(bob, { tool: 'write_files', path: 'old', time: at(-30) }),
    judged(bob, { tool: 'write_files', path: 'asked', time: at(1) }),
    { ...judged(bob, { tool: 'write_files', path: 'no', time: at(1) }, false) },
  ]);
  const changes = ['a', 'b', 'old', 'asked', 'no', 'src/.phasegate-0123456789abcdef.tmp'];
  const before = await audit.since(
    entered(bob, 0),
    changes.map((path) => ({ path })),
  );
  await record([
    executed(bob, 'write_files', { time: at(2), call: 'call-1' }),
    executed(bob, 'write_files', { time: at(3), call: 'call-2' }),
    executed(bob, 'bash', { time: at(4), call: 'call-3' }),
    judged(bob, { tool: 'write_files', path: 'src/x', time: at(5) }),
  ]);
  const after = await audit.since(
    entered(bob, 0),
    changes.map((path) => ({ path })),
  );

  expect(before.calls).toMatchObject(
    [['a'], ['b'], ['asked']].map((wrote) => ({ wrote, ended: Number.POSITIVE_INFINITY })),
  );
  expect(after.calls).toMatchObject([
    { wrote: ['a'], ended: Date.parse(at(2)), carriedOut: true },
    { wrote: ['b'], ended: Date.parse(at(3)), carriedOut: true },
    { tool: 'bash', what: 'make', ended: Date.parse(at(4)), carriedOut: true },
    { wrote: ['asked'], carriedOut: false },
    { wrote: ['src/x'] },
  ]);
  const within = after.calls.map((call) =>
    [2.5, 10, 12].map((minute) => isWithin(call, Date.parse(at(minute)))),
  );
  // Of a call that Phasegate did not carry out nobody knows the end: it is not longer than ten minutes.
  expect(within.slice(0, 4)).toEqual([
    [false, false, false],
    [true, false, false],
    [true, false, false],
    [true, true, false],
  ]);
});

test('who held a run, or an item of it, is known from the first time in its phase, and where it was forgotten all may have', async () => {
  const { audit, record, ada, bob, agent } = await bed('memory', () =>
    createKeptCalls({ calls: 40, ofRun: 5, open: 40 }),
  );
  const eves = [await agent('eve'), await agent('eve'), await agent('eve')];
  const handed = (event: Draft['event'], { name }: Who, minute: number, run = bob.run) => ({
    run,
    event,
    time: at(minute),
    principal: `agent:${name}`,
    data: event === 'item_completed' ? {} : { holder: name },
  });
  const before = (name: string, from: number, until = from) => ({
    ...NO_CALL,
    principal: `agent:${name}`,
    started: Date.parse(at(from)),
    ended: Date.parse(at(until)),
    carriedOut: true,
  });
  const run = {
    ...entered(bob, 0),
    holder: 'bob',
    work: { ...entered(bob, 0).work, items: null },
  } as unknown as Run;
  const isExcused = async (call: AllowedCall) => {
    const { handovers } = await audit.since(run, []);
    return isBeside(heldIn(run, handovers)(call.principal), call);
  };
  await record([
    handed('run_claimed', bob, -1),
    handed('run_claimed', bob, 1),
    handed('run_released', bob, 2),
    handed('item_claimed', ada, 2),
    handed('item_completed', ada, 4),
    handed('run_claimed', bob, 5),
  ]);

  expect(await isExcused(before('bob', 0.5))).toBe(true);
  expect(await isExcused(before('bob', 3))).toBe(false);
  expect(await isExcused(before('ada', 1))).toBe(true);
  expect(await isExcused(before('ada', 3))).toBe(false);
  expect(await isExcused(before('ada', 4.5))).toBe(true);
  expect(await isExcused(before('eve', 3))).toBe(true);

  // An agent that hands over without end makes others forget nothing of anybody else, in one run or in many.
  for (let n = 0; n < 30; n += 1) await record([handed('run_claimed', { run: bob.run, name: 'eve' }, 6 + n)]);
  for (const eve of eves)
    for (let n = 0; n < 20; n += 1) await record([handed('run_claimed', eve, 40, eve.run)]);
  expect(await isExcused(before('bob', 0.5))).toBe(true);
  expect(await isExcused(before('ada', 3))).toBe(false);
  expect(await isExcused(before('ada', 4.5))).toBe(true);
  expect(await isExcused(before('eve', 3))).toBe(false);
  expect(await isExcused(before('someone', 3))).toBe(true);
});

test('one who holds the run when its phase is entered had it all the time, also if an item is what they take up first', async () => {
  const { audit, record, ada } = await bed('memory');
  const run = { ...entered(ada, 0), work: { ...entered(ada, 0).work, items: null } } as unknown as Run;
  const fromWhen = async (holder: string | null) => {
    const { handovers } = await audit.since(run, []);
    return heldIn({ ...run, holder } as Run, handovers)('agent:ada')?.from;
  };
  const handed = (event: Draft['event'], minute: number) => ({
    run: ada.run,
    event,
    time: at(minute),
    principal: 'agent:ada',
    data: { holder: 'ada' },
  });
  await record([handed('item_claimed', 2)]);
  const holding = await fromWhen('ada');
  const itemOnly = await fromWhen('bob');
  await record([handed('run_released', 3)]);
  const gaveBack = await fromWhen(null);

  expect([holding, itemOnly, gaveBack]).toEqual([START, Date.parse(at(2)), START]);
});

test('only so much is kept, and the agent that has most loses its own', async () => {
  const limits = { calls: 40, ofRun: 5, open: 6 };
  const { audit, record, ada, bob, kept } = await bed('memory', () => createKeptCalls(limits));
  await record([judged(ada, { tool: 'write_files', path: 'a', time: at(1) })]);
  for (let n = 0; n < 300; n += 1) {
    await record([judged(bob, { tool: 'write_files', path: `b${n}`, time: at(1) })]);
    await record([judged(bob, { tool: `mcp:one/t${n}`, path: 'x', time: at(1) })]);
    await record([executed(bob, `mcp:one/t${n}`, { time: at(2) })]);
  }
  const paths = ['a', ...Array.from({ length: 300 }, (_, n) => `b${n}`)].map((path) => ({ path }));
  const { calls } = await audit.since(entered(ada, 0), paths);
  const long = { tool: 'write_files', path: `${'d/'.repeat(9000)}z`, time: at(2) };
  await record([judged(bob, long)]);
  const later = await audit.since(entered(ada, 0), [...paths, { path: long.path }]);

  expect(calls[0]).toMatchObject({ principal: 'agent:ada', wrote: ['a'] });
  expect(calls.at(-1)).toMatchObject({ wrote: ['b299'] });
  expect(calls.length).toBeLessThanOrEqual(40);
  expect(kept().calls).toBeLessThanOrEqual(40);
  expect(kept().open).toBeLessThanOrEqual(6);
  expect(later.calls).toMatchObject([{ principal: 'agent:ada' }]);
});

test('what was let go is not held until its end either, and is counted once', () => {
  const kept = createKeptCalls({ calls: 100, ofRun: 5, open: 20 });
  const listed = new Set<string>();
  for (let n = 0; n < 1000; n += 1) {
    const paths = Array.from({ length: 1 + (n % 7) }, (_, at) => `f${n}-${at}`);
    for (const path of paths) listed.add(path);
    kept.take(feedRecord(n, `run${n}`, { tool: 'write_files', paths }), 'allowed');
  }
  const found = kept.of({ run: 'other', since: START, paths: [...listed] });
  const weight = found.reduce((sum, { wrote }) => sum + wrote.length, 0);

  expect(found.length).toBeGreaterThan(0);
  expect(kept.size()).toEqual({ calls: weight, open: found.length, handovers: 0 });
  expect(weight).toBeLessThanOrEqual(100);
});

function feedRecord(id: number, run: string, { tool, paths }: { tool: string; paths: readonly string[] }) {
  const data = { tool, input: { paths }, allowed: true };
  const record = { id, run, seq: id, time: at(1), principal: 'agent:bob', event: 'tool_judged', data };
  return record as unknown as FeedRecord;
}

const NO_CALL = { run: 'other', seq: 1, tool: 'write_files', what: '', wrote: ['a'] };

type Who = { readonly run: string; readonly name: string };

async function bed(kind: 'memory' | 'sqlite', make: () => KeptCalls = createKeptCalls) {
  const draft = { id: 'w', phases: [{ id: 'A' }] };
  const { project, store } = openMemoryProject(draft, kind === 'sqlite' ? { sqlite: true } : {});
  const agent = async (name: string): Promise<Who> => {
    const { view } = await project.as({ kind: 'agent', name }).start({ workflow: 'w' });
    return { run: String(view?.run), name };
  };
  const [ada, bob] = [await agent('ada'), await agent('bob')];
  let handed = 0;
  const queries: FeedSince[] = [];
  const made: KeptCalls[] = [];
  const audit = createCallsInAudit(
    {
      feedEnd: () => store.feedEnd(),
      feedSince: async (query) => {
        queries.push(query);
        const page = await store.feedSince(query);
        handed += page.length;
        return page;
      },
    },
    () => made[made.push(make()) - 1] as KeptCalls,
  );
  const record = async (drafts: readonly (Draft & { readonly run: string })[]) => {
    for (const [run, some] of Map.groupBy(drafts, (one) => one.run)) {
      expect(
        await store.note(
          run,
          some.map(({ run: _, ...rest }) => rest),
        ),
      ).toBe(true);
    }
  };
  return {
    audit,
    record,
    ada,
    bob,
    agent,
    queries,
    handed: () => handed,
    kept: () => made.at(-1)?.size() as Sizes,
  };
}

type Sizes = ReturnType<KeptCalls['size']>;

interface Draft {
  readonly event:
    | 'tool_judged'
    | 'tool_executed'
    | 'run_claimed'
    | 'run_released'
    | 'item_claimed'
    | 'item_completed';
  readonly time: string;
  readonly principal: string;
  readonly data: Json;
}

function judged({ run, name }: Who, words: Readonly<Record<string, string>>, allowed = true) {
  const { tool = '', time = '', call, ...input } = words;
  return {
    run,
    event: 'tool_judged' as const,
    time,
    principal: `agent:${name}`,
    data: { tool, input, allowed, ...(call === undefined ? {} : { call }) },
  };
}

function executed({ run, name }: Who, tool: string, { time, call }: { time: string; call?: string }) {
  const data = { tool, receipt: { ended_at: time }, ...(call === undefined ? {} : { call }) };
  return { run, event: 'tool_executed' as const, time, principal: `agent:${name}`, data };
}

function entered({ run }: Who, minute: number) {
  return { id: run, work: { enteredAt: at(minute) } };
}

import { describe, expect, test } from 'vitest';
import { createCallsUnderWay } from './callsUnderWay.ts';
import {
  ADA,
  approve,
  BOB,
  CY,
  claim,
  done,
  events,
  GATED,
  openWith,
  queue,
  TWO,
} from './fixtures/agentsAtWork.ts';
import type { MemoryProject, MemoryProjectOptions } from './fixtures/openMemoryProject.ts';
import { createReleases } from './leases/releases.ts';
import type { Claimed, FeedRecord, Store } from './ports.ts';
import { createRuntime } from './runtime.ts';
import { keepWatch, type WatchSettings } from './watch.ts';
import { createDelivery } from './webhooks/webhookDelivery.ts';

/** A watch whose rounds are called for by hand. */
function watching(it: MemoryProject, settings: WatchSettings = {}) {
  const errors: unknown[] = [];
  const now = () => Date.parse(it.now());
  const means = { store: it.store, now, onError: (error: unknown) => errors.push(error) };
  const calls = createCallsUnderWay({ ...it.parts, ...means });
  const allowed = { signed: async () => true, accepted: async () => true };
  const runtime = createRuntime({ ...it.parts, ...allowed, calls });
  const releases = createReleases({ store: it.store, runtime, calls, now });
  const everyMs = 1_000_000;
  const delivery = createDelivery(means);
  const { agents } = it.project;
  const watch = keepWatch({
    ...means,
    runtime,
    releases,
    agents,
    delivery,
    settings: { everyMs, ...settings },
  });
  return { ...watch, errors, calls };
}

test.each([
  ['is heard of', (it: MemoryProject, { token }: Claimed) => it.project.claims.admit(token)],
  ['gets a fresh token', (it: MemoryProject, { view }: Claimed) => it.project.claims.token(view.run, ADA)],
])('an agent that %s right before its run would be taken from it keeps the run', async (_, come) => {
  const it = openWith();
  const run = await queue(it);
  const claimed = await claim(it, ADA);
  let comes: (() => Promise<unknown>) | undefined = () => come(it, claimed);
  const store: Store = {
    ...it.store,
    async save(...words) {
      const first = comes;
      comes = undefined;
      await first?.();
      return it.store.save(...words);
    },
  };
  const { look, errors } = watching({ ...it, store, parts: { ...it.parts, store } });
  it.pass(301);

  await look();

  expect(comes).toBeUndefined();
  expect(errors).toEqual([]);
  expect((await it.store.load(run))?.run).toMatchObject({ status: 'active', holder: 'ada' });
});

describe.each([
  ['memory', {}],
  ['SQLite', { sqlite: true }],
] as readonly (readonly [string, MemoryProjectOptions])[])('a lease whose time is up (%s)', (_, options) => {
  test('puts the run back at its last checkpoint, three times, then a human must act [S2.92 C15 adv.H7]', async () => {
    const it = openWith(TWO, options);
    const run = await queue(it);
    await done(it, await claim(it, ADA));
    await it.project.claims.release(run, ADA, 'given_back');
    const { look, stop, errors } = watching(it);

    for (let crash = 1; crash <= 3; crash += 1) {
      const { token, view } = await claim(it, BOB);
      expect(view).toMatchObject({ run, phase: 'BUILD', completedPhases: ['PLAN'] });
      await look();
      await it.project.claims.admit(token);
      it.pass(301);
      await look();
      await expect(it.project.claims.admit(token)).rejects.toMatchObject({ code: 'token_dead' });
      expect((await it.store.load(run))?.run).toMatchObject({ status: 'queued', work: { crashes: crash } });
    }
    await claim(it, CY);
    it.pass(301);
    await look();

    expect((await it.store.load(run))?.run).toMatchObject({
      status: 'escalated',
      holder: null,
      escalation: { reason: 'crashes' },
    });
    expect(await it.store.leases()).toEqual([]);
    expect(await it.project.claims.claim(ADA, [])).toBeNull();
    await it.project.as({ kind: 'human', name: 'eve' }).submit(run, { kind: 'resume' });
    expect((await claim(it, ADA)).view.phase).toBe('BUILD');
    expect(errors).toEqual([]);
    expect(await it.store.verify()).toMatchObject({ ok: true });
    await stop();
    await it.project.close();
  });

  test('is kept while the run waits for a human, and taken once it does not', async () => {
    const it = openWith(GATED, options);
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    await done(it, { token } as Claimed);
    const { look, stop } = watching(it);

    it.pass(1_000);
    await look();
    expect(await it.project.claims.admit(token)).toMatchObject({ runId: run });
    expect(await it.store.leases()).toMatchObject([{ agent: 'ada' }]);

    await approve(it, run);
    it.pass(301);
    await look();
    expect((await it.store.load(run))?.run).toMatchObject({ status: 'queued', phase: 'BUILD' });
    await stop();
    await it.project.close();
  });
});

describe('a lease', () => {
  test('that its agent has anew by the time it is to be ended is not ended: it lasts as long as it says [C15]', async () => {
    const it = openWith();
    const run = await queue(it);
    await claim(it, ADA);
    let looks = 0;
    const lease = async (...asked: Parameters<typeof it.store.lease>) => {
      const seen = await it.store.lease(...asked);
      looks += 1;
      // It comes back right after it was found to be late.
      if (looks === 1) await it.project.claims.token(run, ADA);
      return seen;
    };
    const { look, stop, errors } = watching({ ...it, store: { ...it.store, lease } });
    it.pass(301);
    await look();

    expect([looks, errors]).toEqual([2, []]);
    expect((await it.store.load(run))?.run).toMatchObject({ status: 'active', holder: 'ada' });
    expect(await events(it, run)).not.toContain('run_released');
    it.pass(301);
    await look();
    expect((await it.store.load(run))?.run).toMatchObject({ status: 'queued', holder: null });
    await stop();
  });

  test('is not taken from an agent whose call is under way', async () => {
    const it = openWith();
    const run = await queue(it);
    await claim(it, ADA);
    const { look, stop, calls } = watching(it);
    const call = calls.recordOf({ run, item: null, tool: 'bash' }, 600_000);
    await calls.begin(call, 2, []);

    it.pass(301);
    await look();
    expect(await it.store.leases()).toMatchObject([{ agent: 'ada' }]);
    await calls.over(call, []);
    it.pass(301);
    await look();
    expect(await it.store.leases()).toEqual([]);
    await stop();
  });

  test('of an item frees that item; the run’s own does not end while items are open', async () => {
    const it = openWith([{ id: 'SPLIT' }, { id: 'EACH', parallel: { key: 'chapters' } }, { id: 'JOIN' }]);
    const run = await queue(it);
    const { next } = await done(it, await claim(it, ADA), { artifacts: { chapters: ['a', 'b'] } });
    const second = await claim(it, BOB);
    const { look, stop } = watching(it);

    it.pass(250);
    await it.project.claims.admit(next?.token ?? '');
    it.pass(60);
    await look();

    await expect(it.project.claims.admit(second.token)).rejects.toMatchObject({ code: 'token_dead' });
    expect((await it.store.load(run))?.run).toMatchObject({
      status: 'active',
      holder: 'ada',
      work: { items: { a: { holder: 'ada' }, b: { status: 'pending', crashes: 1 } } },
    });
    expect((await claim(it, CY)).item?.key).toBe('b');
    await stop();
  });

  test('of a run that ended, or that another holds by now, is only dropped', async () => {
    const it = openWith();
    const run = await queue(it);
    await claim(it, ADA);
    const stored = await it.store.load(run);
    if (stored === undefined) throw new Error('gone');
    const lease = { run, agent: 'zoe', epoch: 2, expiresAt: it.now(), jti: null, previousJti: null };
    await it.store.save(stored.run, stored.version, [], { leases: [{ put: { ...lease, item: 'x' } }] });
    const { look, stop } = watching(it);
    it.pass(1);

    await look();

    expect(await it.store.leases()).toMatchObject([{ item: null, agent: 'ada' }]);
    expect(await events(it, run)).not.toContain('item_released');
    await stop();
  });
});

describe('a gate', () => {
  test('whose time is up is closed without anyone looking at it [S2.75]', async () => {
    const it = openWith(GATED);
    const run = await queue(it);
    await done(it, await claim(it, ADA));
    const { look, stop } = watching(it);

    it.pass(3_599);
    await look();
    expect(await events(it, run)).not.toContain('gate_timed_out');
    it.pass(2);
    await look();

    expect((await it.store.load(run))?.run).toMatchObject({
      status: 'escalated',
      escalation: { reason: 'gate_timed_out' },
    });
    expect((await events(it, run)).filter((event) => event === 'gate_timed_out')).toHaveLength(1);
    await stop();
  });
});

test('with nobody there a gate parks its own run, loudly, and no other; one approver of three will do [fail.28 adv.K8]', async () => {
  const human = {
    prompt: 'Go?',
    options: [{ label: 'Yes' }],
    approvers: ['eve', 'nobody', 'nobody-else'],
    timeout: { after: '1h', then: 'park' },
  } as const;
  const it = openWith([{ id: 'PLAN', gates: [{ id: 'ok', human }] }, { id: 'BUILD' }]);
  const [parked, other] = [await queue(it), await queue(it)];
  const { look, stop } = watching(it);

  await done(it, await claim(it, ADA));
  await done(it, await claim(it, BOB));
  await approve(it, other);
  const fresh = await it.project.claims.token(other, BOB);
  await done(it, fresh);
  it.pass(3_601);
  await look();

  expect((await it.store.load(other))?.run.status).toBe('completed');
  expect((await it.store.load(parked))?.run).toMatchObject({ status: 'escalated', phase: 'PLAN' });
  const said = await events(it, parked);
  expect(said).toContain('gate_timed_out');
  expect(said.filter((event) => event === 'gate_decided' || event === 'phase_completed')).toEqual([]);
  await stop();
});

describe('a run in which nothing happens', () => {
  test('is reported once for each visit of a phase, also by the next watch [adv.M6 S2.75]', async () => {
    const it = openWith([...TWO, { id: 'SHIP' }]);
    const { view } = await it.project.as(ADA).start({ workflow: 'tested' });
    const run = view?.run ?? '';
    const stuck = async () =>
      (await it.store.history(run, { after: 0, limit: 99 })).filter(({ event }) => event === 'run_stuck');
    const first = watching(it);

    it.pass(1_700);
    await first.look();
    await it.project.as(ADA).judgeTool(run, { tool: 'read_files', input: { path: 'a' } });
    it.pass(200);
    await first.look();
    expect(await stuck()).toEqual([]);
    it.pass(1_700);
    await first.look();
    expect(await stuck()).toMatchObject([
      { data: { phase: 'PLAN', visit: 1, status: 'active', holder: 'ada', seconds: 1_900 } },
    ]);
    await first.stop();

    const second = watching(it);
    it.pass(10_000);
    await second.look();
    expect(await stuck()).toHaveLength(1);
    await it.project.as(ADA).submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} });
    it.pass(1_801);
    await second.look();
    it.pass(1_801);
    await second.look();
    expect(await stuck()).toMatchObject([
      { data: { phase: 'PLAN' } },
      { data: { phase: 'BUILD', visit: 2 } },
    ]);
    expect(await it.store.verify()).toMatchObject({ ok: true });
    await second.stop();
  });

  test('is not looked at again once it was reported, until it is written', async () => {
    const it = openWith();
    const run = (await it.project.as(ADA).start({ workflow: 'tested' })).view?.run ?? '';
    const quiet = async () => (await it.store.quiet({ since: it.now(), limit: 9 })).map((found) => found.run);
    const { look, stop } = watching(it);
    it.pass(1_801);
    await look();
    expect(await quiet()).toEqual([]);

    // Written in the same visit: looked at once more, and nothing new is to be said.
    await it.project.as(ADA).submit(run, { kind: 'complete', phase: 'BUILD', evidence: {} });
    const { run: stored, version } = (await it.store.load(run)) ?? {};
    if (stored === undefined || version === undefined) throw new Error('there is no run');
    await it.store.save(stored, version, []);
    it.pass(1_801);
    expect(await quiet()).toEqual([run]);
    await look();
    expect(await quiet()).toEqual([]);
    expect((await events(it, run)).filter((event) => event === 'run_stuck')).toHaveLength(1);
    await stop();
  });

  test('is found among more than one round deals with, also behind ones that cannot be read', async () => {
    const it = openWith();
    const runs = await Promise.all(Array.from({ length: 600 }, () => queue(it)));
    const last = runs.at(-1) ?? '';
    const load = it.store.load;
    Object.assign(it.store, {
      load: (run: string) => (run === last ? load(run) : Promise.reject(new Error('unreadable'))),
    });
    const { look, stop, errors } = watching(it);
    it.pass(1_801);

    await look();
    await look();

    expect(errors).toHaveLength(599);
    expect(await events(it, last)).toContain('run_stuck');
    await look();
    expect(errors).toHaveLength(599);
    await stop();
  });

  test('in the queue is reported too, after the time that was set', async () => {
    const it = openWith();
    const run = await queue(it);
    const { look, stop } = watching(it, { stuckAfterMs: 5_000 });
    it.pass(6);
    await look();
    expect(await events(it, run)).toContain('run_stuck');
    await stop();
  });
});

test('what goes wrong with one run is told and stops nothing else', async () => {
  const it = openWith();
  const [broken, fine] = [await queue(it), await queue(it)];
  await claim(it, ADA);
  await claim(it, BOB);
  const load = it.store.load;
  Object.assign(it.store, {
    load: (run: string) => (run === broken ? Promise.reject(new Error('unreadable')) : load(run)),
  });
  const { look, stop, errors } = watching(it);
  it.pass(301);

  await look();

  expect(errors).toMatchObject([{ message: 'unreadable' }]);
  expect(await it.store.leases()).toMatchObject([{ run: broken }]);
  expect(await events(it, fine)).toContain('run_released');
  await stop();
});

test('the watch of a project works by its own clock, and ends with the project', async () => {
  const it = openWith(TWO, { parts: { watching: { everyMs: 1 } } });
  const run = await queue(it);
  await claim(it, ADA);
  const released = Promise.withResolvers<FeedRecord>();
  it.project.feed.subscribe((record) => {
    if (record.event === 'run_released') released.resolve(record);
  });
  it.project.server.watch();
  it.pass(301);

  expect(await released.promise).toMatchObject({ run, data: { holder: 'ada', cause: 'lease_expired' } });
  await it.project.close();
});

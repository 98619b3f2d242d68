import type { LeaseRecord } from '../ports/leases.ts';
import type { Store } from '../ports/store.ts';
import { type Clause, create } from './clause.ts';
import { afterDraft, SAMPLE_TIME, type Samples, sampleDraft } from './samples.ts';

/** What every store must do with leases. */
export const LEASE_CLAUSES: readonly Clause[] = [
  {
    name: 'writes a lease with the run it goes with, and drops it with it',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      expect(await store.lease('r1', null)).toBe(undefined);
      const lease = sampleLease({ epoch: 2 });
      expect(await store.save(afterDraft(run), 1, [], { leases: [{ put: lease }] })).toBe(true);
      expect(await store.lease('r1', null)).toEqual(lease);
      expect(await store.leases()).toEqual([lease]);
      expect([await store.someLeases(0), await store.someLeases(9)]).toEqual([[], [lease]]);
      expect(await store.countLeases()).toBe(1);
      const drop = { run: 'r1', item: null };
      expect(await store.save(afterDraft(run, { epoch: 3 }), 2, [], { leases: [{ drop }] })).toBe(true);
      expect(await store.lease('r1', null)).toBe(undefined);
      expect(await store.leases()).toEqual([]);
    },
  },
  {
    name: 'writes nothing by a token that newer ones have replaced, in the same epoch',
    async body(store, expect, { sampleRun }) {
      const run = { ...sampleRun('r1'), holder: 'local' };
      await create(store, run);
      const { epoch } = run;
      const by = (jti: string) => ({ epoch, agent: 'local', item: null, jti });
      const call = {
        id: 'c1',
        run: 'r1',
        item: null,
        tool: 'bash',
        process: 'p1',
        deadline: LATEST,
        ending: false,
      };
      expect(await store.note('r1', [sampleDraft('tool_judged')], by('j3'))).toBe(false);
      const put = sampleLease({ epoch, jti: 'j3', previousJti: 'j2' });
      expect(await store.save(run, 1, [], { leases: [{ put }] })).toBe(true);
      for (const held of [by('j1'), { ...by('j3'), agent: 'another' }]) {
        expect(await store.note('r1', [sampleDraft('tool_judged')], held)).toBe(false);
        expect(await store.beginCall(call, 2, [sampleDraft('tool_judged')], held)).toBe(false);
        expect(await store.save(afterDraft(run), 2, [sampleDraft('phase_completed')], { held })).toBe(false);
      }
      expect((await store.history('r1', { after: 0, limit: 10 })).length).toBe(1);
      expect((await store.calls('r1', null)).under).toEqual([]);
      expect(await store.note('r1', [], by('j2'))).toBe(true);
      expect(await store.beginCall(call, 2, [], by('j2'))).toBe(true);
      expect(await store.save(afterDraft(run), 2, [], { held: by('j3') })).toBe(true);
    },
  },
  {
    name: 'gives the holder of a run fresh tokens, each beside the one before it, while the run keeps its version',
    async body(store, expect, { sampleRun }) {
      const run = { ...sampleRun('r1'), holder: 'local' };
      await create(store, run);
      const { epoch } = run;
      const fresh = (jti: string, change: Partial<LeaseRecord> = {}) =>
        store.renewToken(sampleLease({ epoch, jti, expiresAt: LATER, ...change }), [
          sampleDraft('token_issued'),
        ]);
      expect(await fresh('j1')).toBe(true);
      expect(await Promise.all([fresh('j2'), fresh('j3', { expiresAt: BETWEEN })])).toEqual([true, true]);
      const held = sampleLease({ epoch, jti: 'j3', previousJti: 'j2', expiresAt: LATER });
      expect(await store.lease('r1', null)).toEqual(held);
      expect([
        await fresh('j4', { agent: 'another' }),
        await fresh('j4', { epoch: epoch + 1 }),
        await fresh('j4', { item: 'door' }),
        await fresh('j4', { run: 'nobody' }),
      ]).toEqual([false, false, false, false]);
      expect(await store.leases()).toEqual([held]);
      expect((await store.history('r1', { after: 0, limit: 10 })).map(({ event }) => event)).toEqual([
        'run_started',
        'token_issued',
        'token_issued',
        'token_issued',
      ]);
      expect(await store.load('r1')).toMatchObject({ version: 1 });
      expect(await store.verify()).toMatchObject({ ok: true });
    },
  },
  {
    name: 'writes no run for a lease that was renewed, or got another token, since it was seen',
    async body(store, expect, { sampleRun }) {
      const run = { ...sampleRun('r1'), holder: 'local' };
      await create(store, run);
      const { epoch } = run;
      const seen = sampleLease({ epoch });
      expect(await store.save(afterDraft(run), 1, [], { seen })).toBe(false);
      expect(await store.save(run, 1, [], { leases: [{ put: seen }] })).toBe(true);
      expect(await store.renewLease({ ...seen, expiresAt: LATER })).toBe(true);
      expect(await store.save(afterDraft(run), 2, [], { seen })).toBe(false);
      const renewed = { ...seen, expiresAt: LATER };
      expect(await store.renewToken({ ...renewed, jti: 'j2' }, [])).toBe(true);
      expect(await store.save(afterDraft(run), 2, [], { seen: renewed })).toBe(false);
      const now = { ...renewed, jti: 'j2', previousJti: 'j1' };
      expect(await store.save(afterDraft(run), 2, [], { seen: now })).toBe(true);
    },
  },
  {
    name: 'moves a lease on with its run for the agent that has it, and gives nobody one by it',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const moving = (put: LeaseRecord) => ({ leases: [{ put, onlyHeld: true as const }] });
      await store.save(afterDraft(run), 1, [], moving(sampleLease({ epoch: 2 })));
      expect(await store.leases()).toEqual([]);

      const held = sampleLease({ epoch: 2, jti: 'j' });
      await store.save(afterDraft(run), 2, [], { leases: [{ put: held }] });
      await store.save(afterDraft(run), 3, [], moving(sampleLease({ epoch: 3, agent: 'another' })));
      expect(await store.leases()).toEqual([held]);

      const moved = sampleLease({ epoch: 4 });
      await store.save(afterDraft(run), 4, [], moving(moved));
      expect(await store.leases()).toEqual([moved]);

      // Dropped in the same moment, it does not come back.
      const [dropped] = await Promise.all([
        store.dropLease(moved),
        store.save(afterDraft(run), 5, [], moving(sampleLease({ epoch: 5 }))),
      ]);
      expect([dropped, await store.leases()]).toEqual([true, []]);
    },
  },
  {
    name: 'leaves leases alone where the run was not written, because someone else was faster',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const [ada, bob] = [sampleLease({ agent: 'ada' }), sampleLease({ agent: 'bob' })];
      const answers = await Promise.all([
        store.save(afterDraft(run, { holder: 'ada' }), 1, [], { leases: [{ put: ada }] }),
        store.save(afterDraft(run, { holder: 'bob' }), 1, [], { leases: [{ put: bob }] }),
      ]);
      expect(answers).toEqual([true, false]);
      expect(await store.lease('r1', null)).toEqual(ada);
      const drop = { run: 'r1', item: null };
      expect(await store.save(afterDraft(run), 1, [], { leases: [{ drop }] })).toBe(false);
      expect(await store.leases()).toEqual([ada]);
    },
  },
  {
    name: 'gives one run to one of many that claim it at the same moment',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1', { status: 'queued', holder: null });
      await create(store, run);
      const agents = Array.from({ length: 20 }, (_, n) => `agent-${n}`);
      const answers = await Promise.all(
        agents.map((agent) =>
          store.save({ ...run, status: 'active', holder: agent, epoch: 2 } as typeof run, 1, [], {
            leases: [{ put: sampleLease({ agent, epoch: 2 }) }],
          }),
        ),
      );
      expect(answers.filter((won) => won).length).toBe(1);
      expect((await store.lease('r1', null))?.agent).toBe(agents[answers.indexOf(true)]);
      expect(await store.list({ status: 'queued' })).toEqual([]);
    },
  },
  {
    name: 'renews a lease only for the agent that holds it, in the epoch it holds it in',
    async body(store, expect, { sampleRun }) {
      const held = await withLease(store, sampleRun);
      const renewed = { ...held, expiresAt: LATER };
      expect(await store.renewLease(renewed)).toBe(true);
      expect(await store.lease('r1', null)).toEqual(renewed);
      expect(await store.renewLease({ ...held, agent: 'eve' })).toBe(false);
      expect(await store.renewLease({ ...held, epoch: 3 })).toBe(false);
      expect(await store.renewLease({ ...held, epoch: 1 })).toBe(false);
      expect(await store.renewLease({ ...held, item: 'a' })).toBe(false);
      expect(await store.renewLease({ ...held, run: 'r2' })).toBe(false);
      expect(await store.leases()).toEqual([renewed]);
    },
  },
  {
    name: 'renews no lease that was dropped or taken over a moment before',
    async body(store, expect, { sampleRun }) {
      const held = await withLease(store, sampleRun);
      const next = { ...held, agent: 'bob', epoch: 3 };
      const run = afterDraft(sampleRun('r1'), { epoch: 3 });
      const answers = await Promise.all([
        store.renewLease({ ...held, expiresAt: LATER }),
        store.save(run, 2, [], { leases: [{ put: next }] }),
        store.renewLease({ ...held, expiresAt: LATER }),
      ]);
      expect(answers).toEqual([true, true, false]);
      expect(await store.lease('r1', null)).toEqual(next);
      expect(await Promise.all([store.dropLease(next), store.renewLease(next)])).toEqual([true, false]);
      expect(await store.lease('r1', null)).toBe(undefined);
      expect(await store.dropLease(next)).toBe(false);
    },
  },
  {
    name: 'renews a lease as it is now: an older token stays dead, and the end never comes earlier',
    async body(store, expect, { sampleRun }) {
      const seen = await withLease(store, sampleRun);
      const newer = { ...seen, expiresAt: LATER, jti: 'j3', previousJti: 'j2' };
      await store.save(afterDraft(sampleRun('r1')), 2, [], { leases: [{ put: newer }] });
      expect(await store.renewLease({ ...seen, expiresAt: BETWEEN })).toBe(true);
      expect(await store.lease('r1', null)).toEqual(newer);
      expect(await store.renewLease({ ...seen, expiresAt: LATEST })).toBe(true);
      expect(await store.lease('r1', null)).toEqual({ ...newer, expiresAt: LATEST });
    },
  },
  {
    name: 'drops only the lease that was seen, and none that another holds, or that was renewed, since',
    async body(store, expect, { sampleRun }) {
      const seen = await withLease(store, sampleRun);
      const holders = [
        { ...seen, agent: 'ann' },
        { ...seen, epoch: 3 },
        { ...seen, jti: 'j2', previousJti: 'j1' },
        { ...seen, expiresAt: LATER },
      ];
      for (const [n, now] of holders.entries()) {
        await store.save(afterDraft(sampleRun('r1')), 2 + n, [], { leases: [{ put: now }] });
        expect(await store.dropLease(seen)).toBe(false);
        expect(await store.lease('r1', null)).toEqual(now);
      }
      const next = { ...seen, agent: 'ann' };
      const taken = store.save(afterDraft(sampleRun('r1')), 6, [], { leases: [{ put: next }] });
      expect(await Promise.all([taken, store.dropLease({ ...seen, expiresAt: LATER })])).toEqual([
        true,
        false,
      ]);
      expect(await store.leases()).toEqual([next]);
    },
  },
  {
    name: 'keeps a lease for the run and one for each item apart',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const leases = [null, 'a', 'b'].map((item) => sampleLease({ item, agent: `of ${item}` }));
      await store.save(afterDraft(run), 1, [], { leases: leases.map((put) => ({ put })) });
      expect(await store.leases()).toEqual(leases);
      expect(await store.leases('of b')).toEqual([leases[2]]);
      expect(await store.leases('nobody')).toEqual([]);
      expect(await store.dropLease(leases[1] as LeaseRecord)).toBe(true);
      expect(await store.leases()).toEqual([leases[0], leases[2]]);
      expect(await store.lease('r1', 'a')).toBe(undefined);
      expect(await store.lease('r1', 'b')).toEqual(leases[2]);
    },
  },
  {
    name: 'finds the leases that have ended by a time, the earliest first, as they are after each write',
    async body(store, expect, { sampleRun }) {
      const ends = ['00:00:03', '00:00:01', '00:00:02'].map((time) => `2026-01-01T${time}.000Z`);
      const [late, early, middle] = ends as [string, string, string];
      const run = sampleRun('r1');
      await create(store, run);
      const leases = [null, 'a', 'b'].map((item, n) => sampleLease({ item, expiresAt: ends[n] ?? '' }));
      await store.save(afterDraft(run), 1, [], { leases: leases.map((put) => ({ put })) });
      const found = async (now: string) => (await store.leasesEnded(now)).map(({ item }) => item);
      expect(await store.leasesEnded(early)).toEqual([{ run: 'r1', item: 'a' }]);
      expect(await found(SAMPLE_TIME)).toEqual([]);
      expect(await found(middle)).toEqual(['a', 'b']);
      expect(await found(late)).toEqual(['a', 'b', null]);
      await store.renewLease(sampleLease({ item: 'a', expiresAt: LATER }));
      await store.dropLease(leases[2] as LeaseRecord);
      expect(await found(late)).toEqual([null]);
      expect(await found(LATER)).toEqual([null, 'a']);
    },
  },
];

/** A lease of `local` on the run `r1`. */
export function sampleLease(change: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    run: 'r1',
    item: null,
    agent: 'local',
    epoch: 2,
    expiresAt: SAMPLE_TIME,
    jti: 'j1',
    previousJti: null,
    ...change,
  };
}

const BETWEEN = '2026-01-01T00:30:00.000Z';
const LATER = '2026-01-01T01:00:00.000Z';
const LATEST = '2026-01-01T02:00:00.000Z';

async function withLease(store: Store, sampleRun: Samples['sampleRun']): Promise<LeaseRecord> {
  const run = sampleRun('r1');
  const lease = sampleLease();
  await create(store, run);
  await store.save(afterDraft(run), 1, [sampleDraft('run_claimed')], { leases: [{ put: lease }] });
  return lease;
}

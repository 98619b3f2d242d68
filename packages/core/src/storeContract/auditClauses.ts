import type { AuditRecord } from '../phasegate.ts';
import { type Clause, create, requireStored } from './clause.ts';
import { afterDraft, SAMPLE_TIME, sampleDraft } from './samples.ts';

/** What every store must do with the audit. */
export const AUDIT_CLAUSES: readonly Clause[] = [
  {
    name: 'fails a write with a number that JSON does not have, and none that is made at the same time',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const infinite = sampleDraft('run_escalated', { n: Number.POSITIVE_INFINITY });
      const ended = await Promise.allSettled([
        store.note('r1', [sampleDraft('tool_judged')]),
        store.save(afterDraft(run), 1, [infinite]),
        store.save(afterDraft(run), 1, [sampleDraft('phase_completed')], { project: [infinite] }),
        store.note(null, [infinite]),
        store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]),
      ]);
      expect(ended.map(({ status }) => status === 'fulfilled')).toEqual([true, false, false, false, true]);
      expect((await requireStored(store, 'r1')).version).toBe(2);
      const records = await store.history('r1', { after: 0, limit: 10 });
      expect(records.map(({ event }) => event)).toEqual(['run_started', 'tool_judged', 'phase_completed']);
      expect((await store.history(null, { after: 0, limit: 10 })).length).toBe(1);
    },
  },
  {
    name: 'chains the records of a run and of the project, each from 1',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      await store.save(
        afterDraft(run),
        1,
        [sampleDraft('phase_completed', { n: 1 }), sampleDraft('run_escalated')],
        { project: [sampleDraft('run_ended')] },
      );
      const records = await store.history('r1', { after: 0, limit: 10 });
      expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(records.map(({ prev }) => prev)).toEqual(['', ...hashes(records).slice(0, 2)]);
      expect(records[1]).toMatchObject({
        run: 'r1',
        time: SAMPLE_TIME,
        principal: 'agent:local',
        event: 'phase_completed',
        data: { n: 1 },
      });
      const project = await store.history(null, { after: 0, limit: 10 });
      expect(project.map(({ seq, run: of, event }) => [seq, of, event])).toEqual([
        [1, null, 'run_started'],
        [2, null, 'run_ended'],
      ]);
    },
  },
  {
    name: "notes a run's head on the project's chain when it starts and ends",
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      await store.save(afterDraft(run), 1, [sampleDraft('run_stopped')], {
        project: [sampleDraft('run_ended')],
      });
      const [first, last] = await store.history('r1', { after: 0, limit: 10 });
      const project = await store.history(null, { after: 0, limit: 10 });
      expect(project.map(({ data }) => data)).toEqual([
        { workflow: 'sample', run: 'r1', seq: 1, hash: first?.hash },
        { run: 'r1', seq: 2, hash: last?.hash },
      ]);
    },
  },
  {
    name: 'notes on a run change its history and neither its state nor its version',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1'));
      const before = await requireStored(store, 'r1');
      expect(await store.note('r1', [sampleDraft('tool_judged', { tool: 'bash' })], 1)).toBe(true);
      expect(await store.note('r1', [sampleDraft('tool_judged')])).toBe(true);
      expect(await store.load('r1')).toEqual(before);
      expect((await store.history('r1', { after: 0, limit: 10 })).map(({ event }) => event)).toEqual([
        'run_started',
        'tool_judged',
        'tool_judged',
      ]);
      expect(await store.save(afterDraft(before.run), 1, [])).toBe(true);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'refuses a note of an epoch that is over and writes nothing of it',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      await store.save(afterDraft(run), 1, []);
      expect(await store.note('r1', [sampleDraft('tool_judged')], 1)).toBe(false);
      expect((await store.history('r1', { after: 0, limit: 10 })).length).toBe(1);
      expect(await store.note('r1', [sampleDraft('tool_judged')], 2)).toBe(true);
    },
  },
  {
    name: 'refuses a note of an agent that no longer holds what it was judged on, within one epoch',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      const pending = { value: 'door', status: 'pending', attempts: 0, error: null, evidence: null } as const;
      const held = {
        ...run,
        holder: 'ada',
        work: { ...run.work, items: { door: { ...pending, holder: 'bob' } } },
      };
      await create(store, held);
      const { epoch } = run;
      const note = (agent: string, item: string | null) =>
        store.note('r1', [sampleDraft('tool_judged')], { epoch, agent, item });
      expect(await Promise.all([note('ada', null), note('bob', 'door')])).toEqual([true, true]);
      expect(await Promise.all([note('bob', null), note('ada', 'door'), note('bob', 'roof')])).toEqual([
        false,
        false,
        false,
      ]);
      expect(await store.note('r1', [], { epoch: epoch + 1, agent: 'bob', item: 'door' })).toBe(false);
      const by = (jti: string) => store.note('r1', [], { epoch, agent: 'bob', item: 'door', jti });
      expect(await by('new')).toBe(false);
      const expiresAt = '2036-01-01T00:00:00.000Z';
      const put = {
        run: 'r1',
        item: 'door',
        agent: 'bob',
        epoch,
        expiresAt,
        jti: 'new',
        previousJti: 'before',
      };
      await store.save(held, 1, [], { leases: [{ put }] });
      expect([await by('new'), await by('before'), await by('old')]).toEqual([true, true, false]);
    },
  },
  {
    name: 'judges a note by the epoch that stands when it is written',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const answers = await Promise.all([
        store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]),
        store.note('r1', [sampleDraft('tool_judged')], 1),
      ]);
      expect(answers).toEqual([true, false]);
    },
  },
  {
    name: 'lets notes and transitions of one moment build on each other, in the order they came',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const note = (n: number, epoch: number) => store.note('r1', [sampleDraft('tool_judged', { n })], epoch);
      const next = afterDraft(run);
      const answers = await Promise.all([
        note(1, 1),
        note(2, 1),
        store.save(next, 1, [sampleDraft('phase_completed')]),
        note(3, 1),
        note(4, 2),
        store.save(afterDraft(run, { epoch: 5 }), 1, [sampleDraft('run_stopped')]),
        note(5, 2),
        note(6, 5),
      ]);
      expect(answers).toEqual([true, true, true, false, true, false, true, false]);
      expect(await store.load('r1')).toEqual({ run: next, version: 2 });
      const records = await store.history('r1', { after: 1, limit: 20 });
      expect(records.map(({ seq, event, data }) => [seq, event, data])).toEqual([
        [2, 'tool_judged', { n: 1 }],
        [3, 'tool_judged', { n: 2 }],
        [4, 'phase_completed', {}],
        [5, 'tool_judged', { n: 4 }],
        [6, 'tool_judged', { n: 5 }],
      ]);
      expect(await store.verify()).toMatchObject({ ok: true, records: 7 });
    },
  },
  {
    name: 'chains hundreds of notes of one moment on many runs, each on its own',
    async body(store, expect, { sampleRun }) {
      const ids = Array.from({ length: 8 }, (_, n) => `r${n}`);
      for (const id of ids) await create(store, sampleRun(id));
      const notes = Array.from({ length: 240 }, (_, n) =>
        store.note(ids[n % 8] ?? '', [sampleDraft('tool_judged', { n })], 1),
      );
      expect((await Promise.all(notes)).every((kept) => kept)).toBe(true);
      for (const id of ids) {
        const records = await store.history(id, { after: 1, limit: 100 });
        expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 30 }, (_, n) => n + 2));
      }
      expect(await store.verify()).toMatchObject({ ok: true, records: 256, findings: [] });
    },
  },
  {
    name: 'writes notes on the project that belong to no run',
    async body(store, expect) {
      expect(await store.note(null, [sampleDraft('start_refused', { workflow: 'x' })])).toBe(true);
      expect(await store.note(null, [sampleDraft('credential_failed')])).toBe(true);
      const records = await store.history(null, { after: 0, limit: 10 });
      expect(records.map(({ run, seq, event }) => [run, seq, event])).toEqual([
        [null, 1, 'start_refused'],
        [null, 2, 'credential_failed'],
      ]);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'gives what was verified to read, and nothing that is written meanwhile',
    async body(store, expect) {
      await store.note(null, [sampleDraft('start_refused', { n: 1 })]);
      const seen: unknown[] = [];
      const { ok } = await store.verify({
        async reading(moment) {
          await store.note(null, [sampleDraft('start_refused', { n: 2 })]);
          const found = await moment.feedSince({ events: ['start_refused'], since: SAMPLE_TIME, limit: 10 });
          seen.push(
            found.map(({ data }) => data),
            await moment.humans(),
          );
        },
      });
      expect([ok, seen]).toEqual([true, [[{ n: 1 }], []]]);
      expect((await store.history(null, { after: 0, limit: 10 })).length).toBe(2);
    },
  },
  {
    name: 'gives a history page by page, in order',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1'));
      const notes = Array.from({ length: 24 }, (_, n) => sampleDraft('tool_judged', { n }));
      await store.note('r1', notes);
      const whole = await store.history('r1', { after: 0, limit: 100 });
      const pages = [];
      for (let after = 0; ; after += 10) {
        const page = await store.history('r1', { after, limit: 10 });
        if (page.length === 0) break;
        pages.push(page);
      }
      expect(whole.length).toBe(25);
      expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
      expect(pages.flat()).toEqual(whole);
      expect(await store.history('r1', { after: 25, limit: 10 })).toEqual([]);
    },
  },
  {
    name: 'finds nothing wrong where nothing is',
    async body(store, expect, { sampleRun }) {
      expect(await store.verify()).toEqual({ ok: true, runs: 0, records: 0, unanchored: 0, findings: [] });
      for (const id of ['r1', 'r2', 'r3']) await create(store, sampleRun(id));
      await store.note('r2', [sampleDraft('tool_judged')]);
      expect(await store.verify()).toMatchObject({ ok: true, runs: 3, records: 7, findings: [] });
    },
  },
];

function hashes(records: readonly AuditRecord[]): readonly string[] {
  return records.map(({ hash }) => hash);
}

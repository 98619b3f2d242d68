import type { Run } from '../engine/run.ts';
import type { Json, JsonObject } from '../json.ts';
import type { RunStore } from '../ports/runs.ts';
import { type Clause, create, requireStored } from './clause.ts';
import { afterDraft, sampleDraft, sampleWorkflow } from './samples.ts';

/** What every store must do with runs. */
export const RUN_CLAUSES: readonly Clause[] = [
  {
    name: 'gives back a run exactly as it was stored, with its workflow',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r/1 "quoted" \u2028 ünï', AWKWARD);
      expect(await create(store, run)).toBe(true);
      expect(await store.load(run.id)).toEqual({ run, version: 1 });
    },
  },
  {
    name: 'gives back a long history in order, with large values wherever they occur',
    async body(store, expect, { sampleRun }) {
      let run = sampleRun('r1', { params: { spec: largeValue('spec') } });
      await create(store, run);
      for (let version = 1; version <= 12; version += 1) {
        const evidence = { work: largeValue(`work ${version}`), again: largeValue('again'), small: version };
        run = afterVisit(run, version, evidence);
        const data = { evidence, recorded: { command: { evidence } } };
        expect(await store.save(run, version, [sampleDraft('phase_completed', data)])).toBe(true);
        const [record] = await store.history('r1', { after: version, limit: 1 });
        expect(record?.data).toEqual(data);
      }
      expect(await store.load('r1')).toEqual({ run, version: 13 });
      expect((await store.feed(0, 99)).length).toBe(14);
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: 'only ever adds to what a run has completed and what humans decided in it',
    async body(store, expect, { sampleRun }) {
      const run = afterVisit(sampleRun('r1'), 1, { notes: 'one' });
      await create(store, sampleRun('r1'));
      await store.save(run, 1, [sampleDraft('phase_completed')]);
      const [first] = run.completions;
      const other = { ...first, evidence: { notes: 'another' } };
      for (const change of [{ completions: [] }, { completions: [other] }] as Partial<Run>[]) {
        const failed = await store.save({ ...run, ...change } as Run, 2, []).catch((error: unknown) => error);
        expect(failed).toMatchObject({ code: 'internal' });
      }
      expect(await store.load('r1')).toEqual({ run, version: 2 });
      const copied = { ...run, epoch: 9, completions: JSON.parse(JSON.stringify(run.completions)) } as Run;
      expect(await store.save(copied, 2, [])).toBe(true);
      expect(await store.load('r1')).toEqual({ run: copied, version: 3 });
    },
  },
  {
    name: 'knows no run it was not given',
    async body(store, expect, { sampleRun }) {
      expect(await store.load('nobody')).toBe(undefined);
      expect(await store.save(sampleRun('nobody'), 1, [])).toBe(false);
      expect(await store.note('nobody', [sampleDraft('tool_judged')])).toBe(false);
      expect(await store.history('nobody', { after: 0, limit: 10 })).toEqual([]);
    },
  },
  {
    name: 'makes a run once and leaves the first one alone',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1', { target: 'first.md' }));
      expect(await create(store, sampleRun('r1', { target: 'second.md' }))).toBe(false);
      expect((await requireStored(store, 'r1')).run.target).toBe('first.md');
      expect((await store.history('r1', { after: 0, limit: 10 })).length).toBe(1);
      expect((await store.history(null, { after: 0, limit: 10 })).length).toBe(1);
    },
  },
  {
    name: 'makes one of two runs that are started at once, where there may be one per target or per workflow',
    async body(store, expect, { sampleRun }) {
      const of = (oneRunPer: 'target' | 'workflow', id: string, change: Partial<Run>) =>
        create(store, sampleRun(id, { workflow: { ...sampleWorkflow(oneRunPer), oneRunPer }, ...change }));
      const atOnce = await Promise.all([
        of('target', 't1', { target: 'a.md' }),
        of('target', 't2', { target: './a.md ' }),
        of('target', 't3', { target: 'b.md' }),
        of('workflow', 'w1', { target: 'a.md' }),
        of('workflow', 'w2', { target: 'b.md' }),
        create(store, sampleRun('free', { target: 'a.md' })),
      ]);
      expect(atOnce).toEqual([true, false, true, true, false, true]);
      expect(await of('target', 't4', { target: 'a.md' })).toBe(false);
      const { run, version } = await requireStored(store, 't1');
      const ended = {
        ...run,
        status: 'stopped',
        phase: null,
        holder: null,
        reason: 'enough',
      } as unknown as Run;
      await store.save(ended, version, []);
      expect(await of('target', 't4', { target: 'a.md' })).toBe(true);
      expect(await store.load('t2')).toBe(undefined);
    },
  },
  {
    name: 'lets one of two writers of the same version win and tells the other',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const answers = await Promise.all([
        store.save(afterDraft(run, { holder: 'ada' }), 1, [sampleDraft('phase_completed')]),
        store.save(afterDraft(run, { holder: 'bob' }), 1, [sampleDraft('phase_completed')]),
      ]);
      expect(answers).toEqual([true, false]);
      const { run: stored, version } = await requireStored(store, 'r1');
      expect([stored.holder, version]).toEqual(['ada', 2]);
      expect((await store.history('r1', { after: 0, limit: 10 })).length).toBe(2);
      expect(await store.save(run, 1, [])).toBe(false);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'writes fifty runs at once without mixing them up',
    async body(store, expect, { sampleRun }) {
      const runs = Array.from({ length: 50 }, (_, index) => sampleRun(`r${index}`));
      expect(await Promise.all(runs.map((run) => create(store, run)))).toEqual(runs.map(() => true));
      const saved = runs.map((run) => afterDraft(run, { holder: `agent-${run.id}` }));
      const answers = saved.map((run) =>
        store.save(run, 1, [sampleDraft('phase_completed', { of: run.id })]),
      );
      expect(await Promise.all(answers)).toEqual(runs.map(() => true));
      for (const run of saved) expect(await store.load(run.id)).toEqual({ run, version: 2 });
      expect(await store.verify()).toMatchObject({ ok: true, runs: 50, records: 150 });
    },
  },
  {
    name: 'a loser writes nothing while the others of its moment are written',
    async body(store, expect, { sampleRun }) {
      const [one, two] = [sampleRun('r1'), sampleRun('r2')];
      await create(store, one);
      await create(store, two);
      const answers = await Promise.all([
        store.save(afterDraft(one), 7, [sampleDraft('phase_completed')], {
          project: [sampleDraft('run_ended')],
        }),
        store.save(afterDraft(two), 1, [sampleDraft('phase_completed')]),
        store.note('r1', [sampleDraft('tool_judged')], 9),
        store.note('r2', [sampleDraft('tool_judged')], 2),
      ]);
      expect(answers).toEqual([false, true, false, true]);
      expect((await store.history('r1', { after: 0, limit: 10 })).length).toBe(1);
      expect((await store.history(null, { after: 0, limit: 10 })).length).toBe(2);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'lists runs newest first, by status, by workflow, by holder, and not more than asked for',
    async body(store, expect, { sampleRun }) {
      const other = sampleWorkflow('other');
      await create(store, sampleRun('a', { startedAt: '2026-01-01T00:00:00.000Z' }));
      await create(store, sampleRun('b', { startedAt: '2026-01-03T00:00:00.000Z', workflow: other }));
      await create(store, sampleRun('c', { startedAt: '2026-01-02T00:00:00.000Z', status: 'queued' }));
      await create(store, sampleRun('d', { startedAt: '2026-01-02T00:00:00.000Z' }));
      const names = async (query: Parameters<RunStore['list']>[0]) =>
        (await store.list(query)).map(({ run }) => run);
      expect(await names({})).toEqual(['b', 'd', 'c', 'a']);
      expect(await names({ status: 'queued' })).toEqual(['c']);
      expect(await names({ workflow: 'other' })).toEqual(['b']);
      expect(await names({ workflow: 'sample', status: 'active' })).toEqual(['d', 'a']);
      expect(await names({ limit: 2 })).toEqual(['b', 'd']);
      expect(await names({ limit: 2, offset: 1 })).toEqual(['d', 'c']);
      expect(await names({ offset: 3 })).toEqual(['a']);
      expect(await names({ workflow: 'sample', status: 'active', offset: 1, limit: 5 })).toEqual(['a']);
      expect(await names({ offset: 9, limit: 5 })).toEqual([]);
      expect(await store.countByStatus()).toMatchObject({ active: 3, queued: 1 });
      expect(await names({ holder: 'local', status: 'active' })).toEqual(['b', 'd', 'a']);
      expect(await names({ holder: 'local', workflow: 'other' })).toEqual(['b']);
      expect(await names({ holder: 'local', limit: 3 })).toEqual(['b', 'd', 'c']);
      expect(await names({ holder: 'somebody' })).toEqual([]);
      expect(await names({ workflow: 'none' })).toEqual([]);
      await create(store, sampleRun('e', { startedAt: '2026-01-04T00:00:00.000Z', holder: 'ada' }));
      await create(store, sampleRun('f', { startedAt: '2026-01-05T00:00:00.000Z', holder: null }));
      expect(await names({ seenBy: 'local', limit: 2 })).toEqual(['f', 'b']);
      expect(await names({ seenBy: 'ada', status: 'active', limit: 2 })).toEqual(['f', 'e']);
      expect(await names({ seenBy: 'local', limit: 2, offset: 1 })).toEqual(['b', 'd']);
      expect(await names({ seenBy: 'ada', workflow: 'sample' })).toEqual(['f', 'e']);
      expect(await store.list({ workflow: 'other' })).toEqual([
        {
          run: 'b',
          workflow: 'other',
          target: null,
          status: 'active',
          phase: 'DRAFT',
          holder: 'local',
          epoch: 1,
          priority: 0,
          capabilities: [],
          startedAt: '2026-01-03T00:00:00.000Z',
          updatedAt: '2026-01-01T00:00:00.000Z',
        },
      ]);
    },
  },
  {
    name: 'lists a run with its goal and whose words it is, which never changes',
    async body(store, expect, { sampleRun }) {
      const by = { kind: 'human', name: 'ada' } as const;
      const run = sampleRun('r1', { goal: 'add it\nnow', by, status: 'queued', holder: null });
      await create(store, run);
      await create(store, sampleRun('r2', { by }));
      const [second, first] = await store.list({});
      expect(first?.goal).toEqual({ text: 'add it\nnow', by });
      expect(second !== undefined && 'goal' in second).toBe(false);
      const { version } = await requireStored(store, 'r1');
      await store.save({ ...run, holder: 'local', status: 'active' } as Run, version, []);
      expect((await store.list({ status: 'active', holder: 'local' })).at(-1)?.goal?.text).toBe(run.goal);
      expect((await store.verify()).findings.filter(({ run: id }) => id === 'r2')).toEqual([]);
    },
  },
  {
    name: 'lists a run as it is after its newest write, with phases that are numbers',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1', { phase: 0 });
      await create(store, run);
      expect((await store.list({}))[0]?.phase).toBe(0);
      await store.save({ ...run, status: 'completed', phase: null } as Run, 1, []);
      expect(await store.list({})).toMatchObject([{ status: 'completed', phase: null }]);
    },
  },
  {
    name: 'says of a run its priority and what an agent must be able to do, each once',
    async body(store, expect, { sampleRun }) {
      const workflow = { ...sampleWorkflow(), capabilities: ['node', 'docker'] };
      const queue = { priority: 3, capabilities: ['gpu', 'node'] };
      await create(store, sampleRun('r1', { status: 'queued', holder: null, workflow, queue }));
      await create(store, sampleRun('r2', { status: 'queued', holder: null }));
      const expected = [
        { run: 'r1', priority: 3, capabilities: ['docker', 'gpu', 'node'] },
        { run: 'r2', priority: 0, capabilities: [] },
      ];
      expect(await store.list({})).toMatchObject([...expected].reverse());
      expect(await store.list({ status: 'queued' })).toMatchObject([...expected].reverse());
    },
  },
];

/** Values of a run that careless storing loses or turns into others. */
const AWKWARD: Partial<Run> = {
  target: '',
  params: JSON.parse('{"__proto__": {"a": 1}, "constructor": null, "10": "ten", "2": "two"}'),
  state: { empty: {}, list: [], nested: [[{}], null, false, 0, ''], text: '\u0000 \ud83d\ude00 \\u0041' },
  phase: 1,
  completions: [
    {
      phase: '1',
      visit: 1,
      at: 'then',
      by: 'local',
      outcome: 'ok',
      evidence: { big: 9007199254740991, small: 1e-7 },
    },
  ],
};

function largeValue(name: string): Json {
  return { name, lines: Array.from({ length: 60 }, (_, line) => `${name} \u0001 "${line}" ünï`) };
}

function afterVisit(run: Run, visit: number, evidence: JsonObject): Run {
  const at = '2026-01-01T00:00:00.000Z';
  const completion = { phase: 'DRAFT', visit, at, by: 'local', outcome: 'ok', evidence } as const;
  return { ...run, epoch: run.epoch + 1, completions: [...run.completions, completion] };
}

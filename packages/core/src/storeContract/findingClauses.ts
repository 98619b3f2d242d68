import type { Item, Run } from '../engine/run.ts';
import type { FoundAt, RunFinder } from '../ports/finding.ts';
import { type Clause, create } from './clause.ts';
import { afterDraft, SAMPLE_TIME, type Samples, sampleDraft, sampleWorkflow } from './samples.ts';

/** What every store must find of its runs. */
export const FINDING_CLAUSES: readonly Clause[] = [
  {
    name: 'finds runs to claim by priority, begun ones first, then by age, then by who came first, in pages',
    async body(store, expect, { sampleRun }) {
      const { queued, begun } = madeWith(sampleRun);
      await create(store, queued('late', 0, LATE));
      await create(store, queued('early', 0, EARLY));
      await create(store, queued('urgent', 5, LATE));
      await create(store, queued('twin', 0, EARLY));
      await create(store, queued('whenever', -1, EARLY));
      await create(store, sampleRun('ordinary'));
      await create(store, begun('open', 0, LATE, [item(), item('ada')]));
      await create(store, begun('taken', 9, LATE, [item('bob'), { ...item(), status: 'completed' }]));
      const all = ['urgent', 'open', 'early', 'twin', 'late', 'whenever'];
      for (const limit of [1, 2, 3, 100]) expect(await pages(store, [], limit)).toEqual(all);

      const claimed = { ...queued('urgent', 5, LATE), status: 'active', holder: 'ada', epoch: 2 } as Run;
      expect(await store.save(claimed, 1, [])).toBe(true);
      const full = begun('open', 0, LATE, [item('cy'), item('ada')]);
      expect(await store.save(full, 1, [])).toBe(true);
      const freed = begun('taken', 9, LATE, [item(), { ...item(), status: 'completed' }]);
      expect(await store.save(freed, 1, [])).toBe(true);
      expect(await pages(store, [], 100)).toEqual(['taken', 'early', 'twin', 'late', 'whenever']);
      const back = { ...claimed, status: 'queued', holder: null, epoch: 3 } as Run;
      expect(await store.save(back, 2, [])).toBe(true);
      const [, first] = await store.claimable({ capabilities: [], limit: 2 });
      expect(first).toMatchObject({ run: 'urgent', epoch: 3 });
    },
  },
  {
    name: 'finds runs to claim only for agents that can do what they need, and none that is parked',
    async body(store, expect, { sampleRun }) {
      const { queued } = madeWith(sampleRun);
      const workflow = { ...sampleWorkflow(), capabilities: ['node'] };
      const need = (id: string, capabilities: readonly string[], priority: number): Run =>
        sampleRun(id, { status: 'queued', holder: null, workflow, queue: { priority, capabilities } });
      await create(store, need('gpu', ['gpu'], 1));
      await create(store, need('node', [], 0));
      await create(store, need('both', ['docker', 'gpu'], 2));
      await create(store, queued('any', -3, LATE));
      const hooked: Run['workflow']['enforcement'] = { ...sampleWorkflow().enforcement, ring: 'hooked' };
      const demanding = { ...sampleWorkflow(), enforcement: hooked };
      await create(store, sampleRun('parked', { status: 'queued', holder: null, workflow: demanding }));
      expect(await pages(store, [], 1)).toEqual(['any']);
      expect(await pages(store, ['gpu'], 2)).toEqual(['any']);
      expect(await pages(store, ['node'], 1)).toEqual(['node', 'any']);
      expect(await pages(store, ['gpu', 'node'], 2)).toEqual(['gpu', 'node', 'any']);
      expect(await pages(store, ['node', 'gpu', 'docker'], 1)).toEqual(['both', 'gpu', 'node', 'any']);
    },
  },
  {
    name: 'finds the gates whose time is up, and none that has no limit or was left',
    async body(store, expect, { sampleRun }) {
      const { waiting } = madeWith(sampleRun);
      await create(store, waiting('unlimited', EARLY, null));
      await create(store, waiting('later', EARLY, 3600));
      await create(store, waiting('sooner', EARLY, 60));
      await create(store, sampleRun('active'));
      expect(await store.gatesDue('2026-01-01T00:00:59.999Z')).toEqual([]);
      expect(await store.gatesDue('2026-01-01T00:01:00.000Z')).toEqual(['sooner']);
      expect(await store.gatesDue('2026-01-01T01:00:00.000Z')).toEqual(['sooner', 'later']);
      const { workflow, workflowHash } = waiting('sooner', EARLY, 60);
      await store.save(afterDraft(sampleRun('sooner', { workflow, workflowHash })), 1, []);
      // A run that was written after that time is due whatever the clock says now.
      await store.save({ ...waiting('later', EARLY, 3600), updatedAt: LATE } as Run, 1, []);
      expect(await store.gatesDue('2025-01-01T00:00:00.000Z')).toEqual(['later']);
    },
  },
  {
    name: 'finds quiet runs with their newest record until they were looked at, and again once they are written',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('b', { updatedAt: LATE }));
      await create(store, sampleRun('a', { updatedAt: EARLY }));
      await create(store, sampleRun('c', { updatedAt: EARLY, status: 'queued', holder: null }));
      await create(store, { ...sampleRun('done'), status: 'completed', phase: null } as Run);
      const found = async (since: string, after?: FoundAt) =>
        (await store.quiet({ since, limit: 10, after })).map(({ run }) => run);
      expect(await found('2025-12-31T00:00:00.000Z')).toEqual([]);
      expect(await found(EARLY)).toEqual(['a', 'c']);
      expect(await found(LATE)).toEqual(['a', 'c', 'b']);
      const [first] = await store.quiet({ since: LATE, limit: 1 });
      expect(first).toMatchObject({ run: 'a', newest: SAMPLE_TIME, stuck: null });
      expect(await found(LATE, first?.at)).toEqual(['c', 'b']);

      await store.note('a', [sampleDraft('run_stuck', { visit: 1 })]);
      await store.note('a', [{ ...sampleDraft('tool_judged'), time: LATE }]);
      expect((await store.quiet({ since: EARLY, limit: 1 }))[0]).toMatchObject({
        newest: LATE,
        stuck: { event: 'run_stuck', data: { visit: 1 } },
      });
      await store.lookAgain('a', 7, null);
      expect(await found(EARLY)).toEqual(['a', 'c']);
      await store.lookAgain('a', 1, null);
      await store.lookAgain('c', 1, LATE);
      await store.lookAgain('done', 1, EARLY);
      expect(await found(EARLY)).toEqual([]);
      expect(await found(LATE)).toEqual(['b', 'c']);
      expect(await store.save(sampleRun('a', { updatedAt: LATE }), 1, [])).toBe(true);
      expect(await found(LATE)).toEqual(['b', 'a', 'c']);
      const ended = { ...sampleRun('b'), status: 'completed', phase: null } as Run;
      expect(await store.save(ended, 1, [])).toBe(true);
      expect(await found(LATE)).toEqual(['a', 'c']);
    },
  },
  {
    name: 'finds the runs of a workflow that are not over, by what they are about, and counts those an agent holds',
    async body(store, expect, { sampleRun }) {
      const other = sampleWorkflow('other');
      await create(store, sampleRun('a', { target: './x/../a.md ' }));
      await create(store, sampleRun('b', { target: '/somewhere/b.md', status: 'queued', holder: null }));
      await create(store, sampleRun('beside', { target: '/somewhere-else/b.md' }));
      await create(store, sampleRun('none'));
      await create(store, sampleRun('elsewhere', { target: 'a.md', workflow: other }));
      await create(store, {
        ...sampleRun('over', { target: 'a.md' }),
        status: 'stopped',
        phase: null,
      } as Run);
      const found = async (query: Omit<Parameters<RunFinder['notOver']>[0], 'workflow'>) =>
        (await store.notOver({ workflow: 'sample', ...query })).map(({ run }) => run).sort();
      expect(await found({})).toEqual(['a', 'b', 'beside', 'none']);
      expect((await found({ limit: 1 })).length).toBe(1);
      expect(await found({ targets: ['a.md'] })).toEqual(['a']);
      expect(await found({ targets: [''] })).toEqual(['none']);
      expect(await found({ targets: ['a.md'], beneath: ['..', '/somewhere/'] })).toEqual(['a', 'b']);
      expect(await found({ beneath: ['/'] })).toEqual(['b', 'beside']);
      expect(await store.countHeld('local', 10)).toBe(4);
      expect(await store.countHeld('local', 2)).toBe(2);
      expect(await store.countHeld('nobody', 10)).toBe(0);
    },
  },
  {
    name: 'counts what an agent holds as runs are begun, change hands and end, also several at a time',
    async body(store, expect, { sampleRun }) {
      const held = async () => [await store.countHeld('local', 10), await store.countHeld('ada', 10)];
      expect(await held()).toEqual([0, 0]);
      const [one, two] = [sampleRun('r1'), sampleRun('r2')];
      await Promise.all([create(store, one), create(store, two)]);
      expect(await held()).toEqual([2, 0]);
      const taken = { ...one, holder: 'ada', epoch: 2 } as Run;
      const over = { ...two, status: 'completed', phase: null, epoch: 2 } as Run;
      expect(await Promise.all([store.save(taken, 1, []), store.save(over, 1, [])])).toEqual([true, true]);
      expect(await held()).toEqual([0, 1]);
      expect(await store.save({ ...taken, epoch: 3 } as Run, 1, [])).toBe(false);
      expect(await held()).toEqual([0, 1]);
      await store.save({ ...taken, holder: null, status: 'queued', epoch: 3 } as Run, 2, []);
      expect(await held()).toEqual([0, 0]);
    },
  },
  {
    name: 'finds the runs that were stopped by what they were about, those that were written last first',
    async body(store, expect, { sampleRun }) {
      const stopped = (id: string, target: string | null, updatedAt: string): Run =>
        ({ ...sampleRun(id, { target, updatedAt }), status: 'stopped', phase: null }) as Run;
      await create(store, stopped('early', 'a.md', EARLY));
      await create(store, stopped('late', './x/../a.md ', LATE));
      await create(store, stopped('elsewhere', '/somewhere/a.md', EARLY));
      await create(store, stopped('other', 'b.md', EARLY));
      await create(store, stopped('none', null, EARLY));
      await create(store, sampleRun('active', { target: 'a.md' }));
      const over = { ...sampleRun('completed', { target: 'a.md' }), status: 'completed', phase: null };
      await create(store, over as Run);
      const found = async (targets: readonly string[], beneath: readonly string[], before: string) =>
        (await store.stopped({ targets, beneath, before })).map(({ run }) => run);
      expect(await found(['a.md'], [], '2027')).toEqual(['late', 'early']);
      expect(await found(['a.md', 'x/../a.md'], [], LATE)).toEqual(['early']);
      expect((await found(['a.md'], ['/somewhere'], '2027')).toSorted()).toEqual([
        'early',
        'elsewhere',
        'late',
      ]);
      expect(await found(['c.md'], ['/else'], '2027')).toEqual([]);
      const now = { ...sampleRun('active', { target: 'a.md', updatedAt: LATE }), status: 'stopped' };
      await store.save({ ...now, phase: null } as Run, 1, []);
      expect((await found(['a.md'], [], '2027')).toSorted()).toEqual(['active', 'early', 'late']);
      expect(await store.notOver({ workflow: 'sample', targets: ['a.md'] })).toEqual([]);
      expect(await store.notOver({ workflow: 'sample' })).toEqual([]);
    },
  },
  {
    name: 'knows the measures of the workspace that runs have which are not over, also at a gate',
    async body(store, expect, { sampleRun }) {
      const measured = (run: Run, tree: string): Run => ({ ...run, work: { ...run.work, tree } });
      const gated = madeWith(sampleRun).waiting('gated', EARLY, null);
      const wait = 'wait' in gated ? gated.wait : null;
      expect(await store.treesInUse()).toEqual(new Set());
      await create(store, sampleRun('none'));
      await create(store, measured(sampleRun('a'), 'shared'));
      await create(store, measured(sampleRun('b'), 'shared'));
      const many = sampleRun('many');
      const item = { status: 'pending', attempts: 0, evidence: {}, error: null };
      const items = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`item ${index}`, item]));
      await create(store, measured({ ...many, work: { ...many.work, items } } as unknown as Run, 'of many'));
      // What is handed in is stored elsewhere where it is large.
      const large = sampleRun('large');
      const held = { text: 'as large as it gets '.repeat(100) };
      await create(
        store,
        measured(
          { ...large, params: held, work: { ...large.work, evidence: held } } as unknown as Run,
          'of large',
        ),
      );
      await create(store, measured(sampleRun('q', { status: 'queued', holder: null }), 'queued'));
      await create(store, measured({ ...gated, wait: { ...wait, tree: 'at the gate' } } as Run, 'before it'));
      const over = { ...measured(sampleRun('over'), 'over'), status: 'completed', phase: null } as Run;
      await create(store, over);
      const all = ['shared', 'of many', 'of large', 'queued', 'at the gate', 'before it'];
      expect(await store.treesInUse()).toEqual(new Set(all));
      await store.save(measured(sampleRun('q'), 'newer'), 1, []);
      await store.save(
        { ...measured(sampleRun('a'), 'shared'), status: 'stopped', phase: null } as Run,
        1,
        [],
      );
      expect(await store.treesInUse()).toEqual(
        new Set(['shared', 'newer', 'of many', 'of large', 'at the gate', 'before it']),
      );
    },
  },
];

const [EARLY, LATE] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'] as const;

async function pages(store: RunFinder, capabilities: readonly string[], limit: number): Promise<string[]> {
  const found: string[] = [];
  let after: FoundAt | undefined;
  for (;;) {
    const page = await store.claimable({ capabilities, limit, after });
    found.push(...page.map(({ run }) => run));
    after = page.at(-1)?.at;
    if (page.length < limit) return found;
  }
}

/** Runs as the clauses need them. */
function madeWith(sampleRun: Samples['sampleRun']) {
  function queued(id: string, priority: number, startedAt: string): Run {
    const queue = priority === 0 ? {} : { queue: { priority, capabilities: [] } };
    return sampleRun(id, { status: 'queued', holder: null, startedAt, ...queue });
  }

  function begun(id: string, priority: number, startedAt: string, items: readonly Item[]): Run {
    const run = sampleRun(id, { startedAt, queue: { priority, capabilities: [] } });
    return {
      ...run,
      work: { ...run.work, items: Object.fromEntries(items.map((one, n) => [`i${n}`, one])) },
    };
  }

  function waiting(id: string, since: string, afterSeconds: number | null): Run {
    const plain = sampleWorkflow(`gated-${afterSeconds}`);
    const timeout = afterSeconds === null ? null : { afterSeconds, afterwards: 'escalate' as const };
    const humanGate = {
      id: 'ok',
      prompt: 'Go?',
      options: [],
      approvers: [],
      quorum: 1,
      timeout,
      context: [],
    };
    const phases = plain.phases.map((phase) => (phase.id === 'DRAFT' ? { ...phase, humanGate } : phase));
    const workflow = { ...plain, phases } as unknown as Run['workflow'];
    const wait = { for: 'gate', gate: 'ok#1', since, outcome: 'ok', state: {}, by: 'local', votes: [] };
    const whole = { ...wait, evidence: {}, wouldRefuse: [] };
    return {
      ...sampleRun(id, { workflow, updatedAt: since }),
      status: 'waiting',
      wait: whole,
    } as unknown as Run;
  }

  return { queued, begun, waiting };
}

function item(holder?: string): Item {
  const pending = { status: 'pending', value: 1, evidence: null, attempts: 0, error: null } as const;
  return holder === undefined ? pending : { ...pending, holder };
}

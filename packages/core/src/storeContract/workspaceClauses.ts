import type { Run } from '../engine/run.ts';
import type { Workflow, WorkspaceUse } from '../model/workflow.ts';
import type { Store } from '../ports/store.ts';
import { type Clause, create } from './clause.ts';
import { type Samples, sampleDraft, sampleWorkflow } from './samples.ts';

/** How every store keeps runs apart that may not work in one workspace at the same time. */
export const WORKSPACE_CLAUSES: readonly Clause[] = [
  {
    name: 'lets no run begin beside one that keeps it out, in either order, and tells which has the workspace',
    async body(store, expect, { sampleRun }) {
      const made = madeWith(sampleRun);
      await create(store, made('reading', 'active', 'reading'));
      expect(await begins(store, made('alone', 'active', 'exclusive'))).toBe(true);
      for (const use of ['exclusive', 'shared', 'before'] as const) {
        expect(await begins(store, made(`late-${use}`, 'active', use))).toBe(false);
        expect(await store.load(`late-${use}`)).toBe(undefined);
      }
      expect(await begins(store, made('also reading', 'active', 'reading'))).toBe(true);
      expect((await store.inWorkspace({ use: 'shared' }, ''))?.run).toBe('alone');
      expect(await store.inWorkspace({ use: 'exclusive' }, 'alone')).toBe(undefined);

      expect(await store.save(over(made('alone', 'active', 'exclusive')), 1, [])).toBe(true);
      expect(await store.inWorkspace({ use: 'exclusive' }, '')).toBe(undefined);
      expect(await begins(store, made('one', 'active', 'shared'))).toBe(true);
      expect(await begins(store, made('two', 'active', 'before'))).toBe(true);
      expect(await begins(store, made('again', 'active', 'exclusive'))).toBe(false);
      expect(await store.inWorkspace({ use: 'shared' }, '')).toBe(undefined);
      expect((await store.inWorkspace({ use: 'exclusive' }, 'one'))?.run).toBe('two');
    },
  },
  {
    name: 'lets exactly one of several begin that are made or claimed at the same moment',
    async body(store, expect, { sampleRun }) {
      const made = madeWith(sampleRun);
      const ids = ['a', 'b', 'c', 'd'];
      const all = await Promise.all(ids.map((id) => begins(store, made(id, 'active', 'exclusive'))));
      expect(all.filter(Boolean).length).toBe(1);
      const first = ids[all.indexOf(true)] as string;
      const queued = ['e', 'f', 'g'];
      for (const id of queued) await create(store, made(id, 'queued', 'exclusive'));
      const claim = (id: string) =>
        store.save(made(id, 'active', 'exclusive'), 1, [sampleDraft('run_claimed')]);
      expect(await Promise.all(queued.map(claim))).toEqual([false, false, false]);
      // What ends and what begins in one batch follow upon each other.
      const ended = store.save(over(made(first, 'active', 'exclusive')), 1, []);
      expect(await Promise.all([ended, ...queued.map(claim)])).toEqual([true, true, false, false]);
    },
  },
  {
    name: 'leaves the workspace to a run that waits, is escalated or was given back, until it has ended',
    async body(store, expect, { sampleRun }) {
      const made = madeWith(sampleRun);
      const run = made('held', 'active', 'exclusive');
      await create(store, run);
      const work = { ...run.work, tree: 'measured' };
      const question = { for: 'questions', since: run.startedAt, questions: [], answers: [] };
      const states = [
        { ...run, work, status: 'waiting', wait: question },
        { ...run, work, status: 'queued', holder: null },
        { ...run, work, status: 'active', holder: 'ada' },
      ] as unknown as readonly Run[];
      for (const [index, state] of states.entries()) {
        expect(await store.save(state, index + 1, [])).toBe(true);
        expect((await store.inWorkspace({ use: 'shared' }, ''))?.status).toBe(state.status);
        expect(await begins(store, made(`beside-${index}`, 'active', 'shared'))).toBe(false);
      }
      expect(await store.save(over(run), states.length + 1, [])).toBe(true);
      expect(await begins(store, made('next', 'active', 'shared'))).toBe(true);
    },
  },
  {
    name: 'finds runs to claim without those that cannot begin now, and with those that are begun',
    async body(store, expect, { sampleRun }) {
      const made = madeWith(sampleRun);
      const back = made('back', 'queued', 'exclusive');
      await create(store, { ...back, work: { ...back.work, tree: 'measured' } } as Run);
      await create(store, made('alone', 'queued', 'exclusive'));
      await create(store, made('shared', 'queued', 'shared'));
      await create(store, made('reading', 'queued', 'reading'));
      const found = async (...without: readonly WorkspaceUse[]) =>
        (await store.claimable({ capabilities: [], limit: 9, without: without.map((use) => ({ use })) })).map(
          ({ run }) => run,
        );
      expect(await found()).toEqual(['back', 'alone', 'shared', 'reading']);
      expect(await found('exclusive')).toEqual(['back', 'shared', 'reading']);
      expect(await found('exclusive', 'shared')).toEqual(['back', 'reading']);
    },
  },
];

/** How a sample uses the workspace: as its workflow says, as one from before anything was said, or not at all. */
type Use = WorkspaceUse | 'before' | 'reading';

function madeWith(sampleRun: Samples['sampleRun']) {
  return (id: string, status: 'active' | 'queued', use: Use): Run =>
    sampleRun(id, {
      status,
      holder: status === 'active' ? 'local' : null,
      workflow: workflowWith(use),
    });
}

function workflowWith(use: Use): Workflow {
  const { enforcement, phases, ...workflow } = sampleWorkflow();
  return {
    ...workflow,
    enforcement: use === 'exclusive' || use === 'shared' ? { ...enforcement, workspace: use } : enforcement,
    phases: phases.map((phase) => (use === 'reading' ? phase : { ...phase, writes: ['**'] })),
  };
}

function begins(store: Store, run: Run): Promise<boolean> {
  return store.create(run, [sampleDraft('run_started')], []);
}

function over(run: Run): Run {
  return { ...run, status: 'completed', phase: null } as Run;
}

import type { Run } from '../engine/run.ts';
import { PhasegateError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Workflow } from '../model/workflow.ts';
import type { AuditDraft } from '../ports/audit.ts';
import type { Store } from '../ports/store.ts';
import { type Clause, create, requireStored } from './clause.ts';
import { type Samples, sampleDraft } from './samples.ts';

/** What every store must do with the workflows of its runs. */
export const WORKFLOW_CLAUSES: readonly Clause[] = [
  {
    name: 'gives a run the workflow it was migrated to, and keeps the one it had',
    async body(store, expect, { sampleRun, hashOf }) {
      const run = sampleRun('r1');
      await create(store, run);
      await create(store, sampleRun('r2'));
      const moved = migrated(run, hashOf);
      expect(await store.save(moved, 1, [migration(run, moved)])).toBe(true);
      expect(await store.load('r1')).toEqual({ run: moved, version: 2 });
      expect((await requireStored(store, 'r2')).run.workflow.description).toBe('');
      expect(await store.workflow(moved.workflowHash)).toEqual(moved.workflow);
      expect(await store.workflow(run.workflowHash)).toEqual(run.workflow);
      expect(await store.workflow('another')).toBe(undefined);
      expect(await store.verify()).toMatchObject({ ok: true, runs: 2 });
    },
  },
  {
    name: 'migrates a run again in the same moment it is written for something else',
    async body(store, expect, { sampleRun, hashOf }) {
      const run = sampleRun('r1');
      await create(store, run);
      const moved = migrated(run, hashOf);
      const later = { ...moved, epoch: 3 };
      const answers = await Promise.all([
        store.save(moved, 1, [migration(run, moved)]),
        store.save(later, 2, [sampleDraft('phase_completed')]),
        store.note('r1', [sampleDraft('tool_judged')], 3),
      ]);
      expect(answers).toEqual([true, true, true]);
      expect(await store.load('r1')).toEqual({ run: later, version: 3 });
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'lets no run change its workflow unless its audit says so, nor to one that is not what its hash names',
    async body(store, expect, { sampleRun, hashOf }) {
      const run = sampleRun('r1');
      await create(store, run);
      const moved = migrated(run, hashOf);
      const forged = { ...moved, workflow: changed(run.workflow, 'forged') };
      expect(await faultOf(store, moved, [sampleDraft('phase_completed')])).toBe('internal');
      expect(await faultOf(store, moved, [migration(run, run)])).toBe('internal');
      expect(await faultOf(store, forged, [migration(run, forged)])).toBe('internal');
      expect(await store.load('r1')).toEqual({ run, version: 1 });
      expect((await store.history('r1', { after: 0, limit: 10 })).length).toBe(1);
      expect(await store.workflow(moved.workflowHash)).toBe(undefined);
    },
  },
];

/** The sample run under a workflow that is described otherwise. */
function migrated(run: Run, hashOf: Samples['hashOf']): Run {
  const workflow = changed(run.workflow, 'changed');
  return { ...run, workflow, workflowHash: hashOf(workflow), epoch: run.epoch + 1 };
}

/** The record of a migration. */
function migration(before: Run, { workflow, workflowHash: hash, params, trusted }: Run): AuditDraft {
  const data = { workflow, workflowHash: hash, from: before.workflowHash, params, trusted, by: 'ada' };
  return { ...sampleDraft('run_migrated', data as unknown as Json), principal: 'human:ada' };
}

function changed(workflow: Workflow, description: string): Workflow {
  return { ...workflow, description };
}

async function faultOf(store: Store, run: Run, drafts: readonly AuditDraft[]): Promise<string> {
  try {
    return `saved: ${await store.save(run, 1, drafts)}`;
  } catch (error) {
    return error instanceof PhasegateError ? error.code : String(error);
  }
}

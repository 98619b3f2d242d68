import type { DatabaseSync } from 'node:sqlite';
import { parseWorkflow, requireOwnWorkflow, tampered } from '@phasegate/audit';
import type { Run, Workflow } from '@phasegate/core';
import { lazily, text } from './statements.ts';

/** The workflows of the runs, each stored once per hash and never changed. */
export interface WorkflowTable {
  /** Throws `state_tampered` when the stored workflow is not the one its hash names, or is gone. */
  load(hash: string): Workflow;
  /** The same, or undefined where no run has or had it. */
  find(hash: string): Workflow | undefined;
  /**
   * Stores a run's own copy, unless that workflow is there already; gives the one its runs share. What is made of a
   * workflow when it is first used, such as the checks of its schemas, is then made once for all of them.
   */
  keep(run: Run): Workflow;
}

/** Opens the table; a workflow is read once while any run that is in use has it, as it cannot change. */
export function openWorkflowTable(database: DatabaseSync): WorkflowTable {
  const read = lazily(database, 'SELECT data FROM workflows WHERE hash = ?');
  const present = lazily(database, 'SELECT 1 FROM workflows WHERE hash = ?');
  const insert = lazily(database, 'INSERT INTO workflows (hash, data) VALUES (?, ?)');
  const known = new Map<string, WeakRef<Workflow>>();

  function load(hash: string): Workflow {
    const cached = known.get(hash)?.deref();
    if (cached !== undefined) return cached;
    const row = read().get(hash);
    const workflow = row === undefined ? null : parseWorkflow(text(row, 'data'), hash);
    if (workflow === null) throw tampered(`workflow \`${hash}\``);
    remember(known, hash, workflow);
    return workflow;
  }

  return {
    load,
    find: (hash) => (present().get(hash) === undefined ? undefined : load(hash)),
    keep(run) {
      const shared = known.get(run.workflowHash)?.deref();
      if (shared !== run.workflow) requireOwnWorkflow(run);
      if (shared === undefined) remember(known, run.workflowHash, run.workflow);
      // Asked each time rather than remembered: a batch that failed has taken its row back.
      if (present().get(run.workflowHash) === undefined) {
        insert().run(run.workflowHash, JSON.stringify(run.workflow));
      }
      return shared ?? run.workflow;
    },
  };
}

const MOST_KNOWN = 200;

function remember(known: Map<string, WeakRef<Workflow>>, hash: string, workflow: Workflow): void {
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(hash, new WeakRef(workflow));
}

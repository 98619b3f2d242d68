import type { Run, RunSummary, Workflow } from '@phasegate/core';
import { goalOf } from '@phasegate/core/engine';

/**
 * Characters of all runs that a store keeps parsed, together: what agents hand in may be a megabyte a phase, and must not
 * fill the memory of a server.
 */
export const MOST_KEPT_CHARACTERS = 64_000_000;

/** The text a run is compared and sealed by: all of it but the workflow, which is stored once per hash. */
export function stateText(run: Run): string {
  const { workflow: _, ...state } = run;
  return JSON.stringify(state);
}

/** The run a stored text stands for; its workflow is looked up by the hash in the text. */
export function runFromState(state: string, workflowOf: (hash: string) => Workflow): Run {
  const stored = JSON.parse(state) as Omit<Run, 'workflow'>;
  return { ...stored, workflow: workflowOf(stored.workflowHash) } as Run;
}

/** The line a run has in the list of runs. */
export function summaryOf(run: Run): RunSummary {
  return {
    run: run.id,
    workflow: run.workflow.id,
    target: run.target,
    ...goalOf(run),
    status: run.status,
    phase: run.phase,
    holder: run.holder,
    epoch: run.epoch,
    priority: priorityOf(run),
    capabilities: capabilitiesOf(run),
    ...(run.overrides === undefined ? {} : { overridden: run.overrides.length }),
    startedAt: run.startedAt,
    updatedAt: run.updatedAt,
  };
}

/** How soon a run is claimed; higher comes first. */
export function priorityOf(run: Run): number {
  return run.queue?.priority ?? 0;
}

/** What an agent must be able to do to claim a run: what its workflow asks for and what it was started with. */
export function capabilitiesOf(run: Run): readonly string[] {
  const own = run.queue?.capabilities ?? [];
  const all = run.workflow.capabilities ?? [];
  return own.length + all.length === 0 ? [] : [...new Set([...all, ...own])].sort();
}

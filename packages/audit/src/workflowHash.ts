import { hash } from 'node:crypto';
import { canonicalJson, type Json, own, PhasegateError, type Run, type Workflow } from '@phasegate/core';
import { halfPairIn } from '@phasegate/core/model';
import type { AuditDraft } from '@phasegate/core/ports';

/** SHA-256 of the canonical JSON of a workflow: what a run remembers its rules by. */
export function workflowHash(workflow: Workflow): string {
  const known = hashes.get(workflow);
  if (known !== undefined) return known;
  const made = hash('sha256', canonicalJson(workflow as unknown as Json));
  // One that can still be changed is hashed each time.
  if (Object.isFrozen(workflow)) hashes.set(workflow, made);
  return made;
}

/** The workflow a stored text stands for, or null when it is not the one its hash names. */
export function parseWorkflow(data: string, hash: string): Workflow | null {
  try {
    const workflow = JSON.parse(data) as Workflow;
    return workflowHash(workflow) === hash ? workflow : null;
  } catch {
    return null;
  }
}

/** Workflows are frozen all through where they are defined, so that the hash of one stands. */
const hashes = new WeakMap<Workflow, string>();

/** Refuses a run whose workflow is not the one its hash names: the copy stored under the hash serves every run. */
export function requireOwnWorkflow(run: Run): void {
  if (workflowHash(run.workflow) === run.workflowHash && isTellable(run.workflow)) return;
  throw new PhasegateError(
    'internal',
    `run \`${run.id}\` names the workflow \`${run.workflowHash}\` but carries another`,
  );
}

/** Of two that differ in halves of surrogate pairs alone the hash is one, and runs would get each other's. */
function isTellable(workflow: Workflow): boolean {
  if (tellable.has(workflow)) return true;
  if (halfPairIn(workflow) !== null) return false;
  if (Object.isFrozen(workflow)) tellable.add(workflow);
  return true;
}

const tellable = new WeakSet<Workflow>();

/** Whether a run changes its workflow with this write. Refuses one whose audit does not tell of it. */
export function changesWorkflow(before: Run, run: Run, drafts: readonly AuditDraft[]): boolean {
  if (before.workflowHash === run.workflowHash) return false;
  const told = drafts.findLast(({ event }) => event === 'run_migrated');
  if (own(told?.data ?? null, 'workflowHash') === run.workflowHash) return true;
  throw new PhasegateError(
    'internal',
    `run \`${run.id}\` cannot change its workflow unless its audit says so`,
  );
}

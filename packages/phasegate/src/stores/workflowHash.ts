import { hash } from 'node:crypto';
import { canonicalJson, type Json, PhasegateError, type Run, type Workflow } from '@phasegate/core';

/** SHA-256 of the canonical JSON of a workflow: what a run remembers its rules by. */
export function workflowHash(workflow: Workflow): string {
  return hash('sha256', canonicalJson(workflow as unknown as Json));
}

/** Refuses a run whose workflow is not the one its hash names: the copy stored under the hash serves every run. */
export function requireOwnWorkflow(run: Run): void {
  if (workflowHash(run.workflow) === run.workflowHash) return;
  throw new PhasegateError(
    'internal',
    `run \`${run.id}\` names the workflow \`${run.workflowHash}\` but carries another`,
  );
}

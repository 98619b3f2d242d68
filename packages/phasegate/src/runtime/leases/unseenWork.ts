import type { Workflow } from '@phasegate/core';
import type { CheckImplementation } from '../ports.ts';

/** The checks that exist, by which it is known what they look at. */
export type KnownChecks = readonly Pick<CheckImplementation, 'name' | 'reads'>[];

/**
 * Why a run of this workflow cannot be worked on in files that the engine does not see: each look at a workspace it
 * would ask for. INVARIANT: nothing that the engine would look for in its own folder, and find there by chance, is
 * left to such an agent. Empty: all that is decided on is what was handed in, and what humans say.
 */
export function unseenWork(workflow: Workflow, checks: KnownChecks): readonly string[] {
  const aboutSubmitted = new Set(checks.filter(({ reads }) => reads === 'subject').map(({ name }) => name));
  const whole: string[] = [];
  if (workflow.code !== null) whole.push('it has functions, which run where the engine is');
  if (workflow.database !== undefined) whole.push('it has a database, which is where the engine is');
  const phases = workflow.phases.flatMap((phase) => {
    const { id, work, writes, preconditions, postconditions, blockers } = phase;
    const looks = [...preconditions, ...postconditions, ...blockers]
      .filter(({ use }) => use !== 'function' && !aboutSubmitted.has(use))
      .map(({ id: check, use }) => `check \`${check}\` (${use}) looks at the workspace`);
    const scoped = workflow.enforcement.mode === 'strict' && !writes.includes(EVERYTHING);
    return [
      ...(work.kind === 'agent' ? [] : [`the work of phase \`${id}\` is done where the engine is`]),
      ...(scoped ? [`what phase \`${id}\` may write is not everything (\`${EVERYTHING}\`)`] : []),
      ...looks,
    ];
  });
  return [...whole, ...phases];
}

const EVERYTHING = '**';

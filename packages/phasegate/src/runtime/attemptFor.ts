import { type Command, PhasegateError, phaseById, type Run } from '@phasegate/core';
import type { Attempt } from './ports.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/**
 * A copy of the workflow's database for a handler that is about to run, where nobody has begun one. What only checks
 * look at needs none: they read the database itself.
 */
export async function attemptFor(
  { databases }: Pick<RuntimeParts, 'databases'>,
  run: Run,
  command: Command,
): Promise<Attempt | undefined> {
  const { database } = run.workflow;
  if (database === undefined || databases === undefined || command.kind !== 'complete') return undefined;
  if (command.phase !== run.phase || run.status !== 'active') return undefined;
  if (phaseById(run.workflow, run.phase)?.work.kind !== 'handler') return undefined;
  return databases.begin({ run: run.id, database });
}

/** What a step left in its copy is the step's failure, like a postcondition that does not hold; all else is a fault. */
export function refusedDatabase(error: unknown): string {
  if (error instanceof PhasegateError && error.code === 'database_refused') return error.message;
  throw error;
}

/** The report that the work of a phase failed, without its reason. Only work that is handed in comes with a copy. */
export function failureOf(command: Command) {
  if (command.kind !== 'complete') throw new PhasegateError('internal', 'only work can fail by its database');
  const { phase, item } = command;
  return { kind: 'report_failure', phase, ...(item === undefined ? {} : { item }) } as const;
}

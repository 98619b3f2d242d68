import { tampered } from '@phasegate/audit';
import type { RunSummary } from '@phasegate/core';
import { integer, type SqlRow, text, textOrNull } from './statements.ts';

/** The line of a run in the list, from its columns. Throws `state_tampered` where they make none. */
export function summary(row: SqlRow): RunSummary {
  return {
    run: text(row, 'id'),
    workflow: text(row, 'workflow_id'),
    target: textOrNull(row, 'target'),
    ...goalIn(row),
    status: text(row, 'status') as RunSummary['status'],
    phase: parsed(row, 'phase') as RunSummary['phase'],
    holder: textOrNull(row, 'holder'),
    epoch: integer(row, 'epoch'),
    priority: integer(row, 'priority'),
    capabilities: parsed(row, 'capabilities') as RunSummary['capabilities'],
    ...overriddenIn(row),
    startedAt: text(row, 'started_at'),
    updatedAt: text(row, 'updated_at'),
  };
}

/** The goal of each row of `runs`; null where the run has none. */
export const GOAL_COLUMN = '(SELECT goal FROM goals WHERE goals.run = runs.id) AS goal';

/** How many phases of each row of `runs` were overridden; null where none was. */
export const OVERRIDDEN_COLUMN =
  '(SELECT phases FROM overridden WHERE overridden.run = runs.id) AS overridden';

function overriddenIn(row: SqlRow): Pick<RunSummary, 'overridden'> {
  const { overridden } = row;
  return overridden === null || overridden === undefined ? {} : { overridden: integer(row, 'overridden') };
}

/** Of a run that has one, where it was asked for. */
function goalIn(row: SqlRow): Pick<RunSummary, 'goal'> {
  if (textOrNull(row, 'goal') === null) return {};
  return { goal: parsed(row, 'goal') as NonNullable<RunSummary['goal']> };
}

function parsed(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(text(row, column));
  } catch {
    throw tampered(`run \`${text(row, 'id')}\``);
  }
}

import type { DatabaseSync } from 'node:sqlite';
import type { Seal } from '../../../runtime/ports.ts';
import { runsMigration } from './0001-runs.ts';
import { peopleMigration } from './0002-people.ts';
import { backupsMigration } from './0003-backups.ts';
import { workflowRunsMigration } from './0004-workflow-runs.ts';
import { agentsMigration } from './0005-agents.ts';
import { callsMigration } from './0006-calls.ts';
import { fillPlaces, findingIndexes, findingMigration } from './0007-finding.ts';
import { goalsMigration } from './0008-goals.ts';
import { afterHistoryMigration, historyMigration } from './0009-history.ts';
import { archivedMigration } from './0010-archived.ts';
import { keptMigration } from './0011-kept.ts';
import { fillWorkspaces, workspacesMigration } from './0012-workspaces.ts';
import { fillStopped, stoppedIndexes, stoppedMigration } from './0013-stopped.ts';
import { overriddenMigration } from './0014-overridden.ts';
import { itemsMigration } from './0015-items.ts';
import { moveHistory } from './moveHistory.ts';

/** Every change of the schema in order; the database's `user_version` is how many it has. Never edit a released one. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, sql: runsMigration },
  { number: 2, sql: peopleMigration },
  { number: 3, sql: backupsMigration },
  { number: 4, sql: workflowRunsMigration },
  { number: 5, sql: agentsMigration },
  { number: 6, sql: callsMigration },
  { number: 7, sql: findingMigration, fill: fillPlaces, indexes: findingIndexes },
  { number: 8, sql: goalsMigration },
  { number: 9, sql: historyMigration, fill: moveHistory, indexes: afterHistoryMigration },
  { number: 10, sql: archivedMigration },
  { number: 11, sql: keptMigration },
  { number: 12, sql: workspacesMigration, fill: fillWorkspaces },
  { number: 13, sql: stoppedMigration, fill: fillStopped, indexes: stoppedIndexes },
  { number: 14, sql: overriddenMigration },
  { number: 15, sql: itemsMigration },
];

/** One change of the schema. */
export interface Migration {
  readonly number: number;
  readonly sql: string;
  /** What SQL alone cannot say of the rows that are there, such as what is sealed. */
  readonly fill?: (database: DatabaseSync, seal: Seal) => void;
  /** Made when the rows are as they should be. */
  readonly indexes?: string;
}

/** Marks a file as ours ("PHGT"), so that another program's database is never migrated. */
export const APPLICATION_ID = 0x50484754;

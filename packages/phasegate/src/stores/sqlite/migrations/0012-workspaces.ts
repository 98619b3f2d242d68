import type { DatabaseSync } from 'node:sqlite';
import { placesOf } from '@phasegate/audit';
import type { Workflow } from '@phasegate/core';
import type { Seal } from '../../../runtime/ports.ts';
import { readStored } from '../runTexts.ts';
import { text } from '../statements.ts';
import { openTextTable } from '../textTable.ts';

/** Which runs hold the workspace, and how. A table of its own: a column behind the state of a run would be read last. */
export const workspacesMigration = `
CREATE TABLE workspaces (
  run INTEGER PRIMARY KEY,
  place TEXT NOT NULL
) STRICT;
CREATE INDEX workspaces_by_place ON workspaces(place);
`;

/** Gives the runs under way their place. One that cannot be understood has none: a verification tells of it. */
export function fillWorkspaces(database: DatabaseSync, _seal: Seal): void {
  const texts = openTextTable(database);
  const workflowOf = database.prepare('SELECT data FROM workflows WHERE hash = ?');
  const insert = database.prepare('INSERT INTO workspaces (run, place) VALUES (?, ?)');
  const read = database.prepare(NEXT);
  for (let last = 0; ; ) {
    const row = read.get(last);
    if (row === undefined) return;
    last = Number(row.key);
    const place = placeOf(row);
    if (place !== null) insert.run(last, place);
  }

  function placeOf(row: Record<string, unknown>): string | null {
    try {
      const { run } = readStored(row as Parameters<typeof readStored>[0], texts);
      if (run === null) return null;
      const workflow = JSON.parse(text(workflowOf.get(run.workflowHash) ?? {}, 'data')) as Workflow;
      return placesOf({ ...run, workflow } as Parameters<typeof placesOf>[0]).workspace;
    } catch {
      return null;
    }
  }
}

const NEXT = `SELECT * FROM runs LEFT JOIN run_heads ON run_heads.run = runs.key
  WHERE runs.key > ? AND status NOT IN ('completed', 'stopped') ORDER BY runs.key LIMIT 1`;

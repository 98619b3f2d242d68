import type { DatabaseSync } from 'node:sqlite';
import {
  createCutter,
  cutSteps,
  digestOf,
  nextDigest,
  runSealHolds,
  sealStored,
  stateOf,
  withPlaces,
} from '@phasegate/audit';
import { type Json, own, type Run } from '@phasegate/core';
import type { Seal } from '../../../runtime/ports.ts';
import { NO_HISTORY } from '../runTexts.ts';
import { bytes, integer, type SqlRow, text } from '../statements.ts';
import { openTextTable } from '../textTable.ts';

/**
 * Brings runs and their records to where the eighth migration has them. A run that matches its seal is sealed anew; one
 * that does not gets none, so that it goes on being found. Records are the same afterwards, and with them every hash.
 */
export function moveHistory(database: DatabaseSync, seal: Seal): void {
  moveRuns(database, seal);
  database.exec(AUDIT);
}

function moveRuns(database: DatabaseSync, seal: Seal): void {
  const texts = openTextTable(database);
  const insertRun = database.prepare(RUN);
  const insertHead = database.prepare(HEAD);
  for (const row of database.prepare('SELECT rowid AS key, * FROM runs_before ORDER BY rowid').iterate()) {
    const key = integer(row, 'key');
    const run = sealedRun(seal, row);
    const head = { seq: integer(row, 'seq'), hash: text(row, 'hash') };
    let state = text(row, 'state');
    let { steps, lastStep } = NO_HISTORY;
    let mac = '';
    if (run !== null) {
      const cutter = createCutter();
      const placeOf = texts.placing(key, new Map());
      for (const { kind, cut } of cutSteps(cutter, undefined, run)) {
        const stored = withPlaces(cut, placeOf);
        lastStep = texts.add({ run: key, kind, before: lastStep }, stored);
        steps = nextDigest(steps, { kind, text: stored });
      }
      state = withPlaces(cutter.json(stateOf(run)), placeOf);
      const version = integer(row, 'version');
      const { id: runId, workflowHash } = run;
      mac = sealStored(seal, { runId, workflowHash, version, head, digest: digestOf(state), steps });
    }
    insertRun.run(lastStep, state, key);
    insertHead.run(bytes(mac), key);
  }
}

/** The run of a row from before, or null where it does not match its seal. */
function sealedRun(seal: Seal, row: SqlRow): Run | null {
  const state = text(row, 'state');
  const head = { seq: integer(row, 'seq'), hash: text(row, 'hash') };
  const sealed = { runId: text(row, 'id'), version: integer(row, 'version'), head, state };
  if (!runSealHolds(seal, text(row, 'mac'), sealed)) return null;
  const run = JSON.parse(state) as Json;
  // What only stood in both places is in the row from now on; one that said otherwise must not come to be right.
  const same = own(run, 'id') === sealed.runId && own(run, 'workflowHash') === text(row, 'workflow_hash');
  const whole = Array.isArray(own(run, 'completions')) && Array.isArray(own(run, 'decisions'));
  return same && whole ? (run as unknown as Run) : null;
}

/** Bytes of a hash. What is none was put there by somebody else, and stays what fits no record. */
function hashOf(column: string): string {
  return `CASE WHEN ${column} = '' OR (length(${column}) = 64 AND ${column} NOT GLOB '*[^0-9a-f]*')
    THEN unhex(${column}) ELSE CAST(${column} AS BLOB) END`;
}

const LISTED = `id, workflow_hash, workflow_id, target, holder, status, phase, epoch, started_at, updated_at, priority,
  capabilities, claim_place, gate_due, target_key, quiet_since`;
const RUN = `INSERT INTO runs (key, ${LISTED}, last_step, state)
  SELECT rowid, ${LISTED}, ?, ? FROM runs_before WHERE rowid = ?`;
const HEAD = `INSERT INTO run_heads (run, version, seq, hash, mac, headed_seq, headed_hash)
  SELECT rowid, version, seq, ${hashOf('hash')}, ?, headed_seq, ${hashOf('headed_hash')}
  FROM runs_before WHERE rowid = ?`;

/** Records whose run is gone get a number that no run has. */
const AUDIT = `
CREATE TEMP TABLE chain_keys AS
  SELECT id AS name, rowid AS key FROM runs_before UNION ALL SELECT '', 0;
INSERT INTO temp.chain_keys
  SELECT run, (SELECT coalesce(max(rowid), 0) FROM runs_before) + row_number() OVER (ORDER BY run)
  FROM (SELECT DISTINCT run FROM audit_before WHERE run NOT IN (SELECT name FROM temp.chain_keys));
CREATE UNIQUE INDEX temp.chain_keys_by_name ON chain_keys(name);
INSERT INTO audit (id, run, seq, time, principal, event, data, prev, hash)
  SELECT record.rowid, chain.key, seq, time, principal, event, data, ${hashOf('prev')}, ${hashOf('hash')}
  FROM audit_before AS record JOIN temp.chain_keys AS chain ON chain.name = record.run
  ORDER BY record.rowid;
INSERT OR IGNORE INTO unheaded (run)
  SELECT chain.key FROM unheaded_before JOIN temp.chain_keys AS chain ON chain.name = unheaded_before.run;
DROP TABLE temp.chain_keys;
`;

import { DatabaseSync } from 'node:sqlite';
import type { AuditReport, Seal } from '../../runtime/ports.ts';
import type { AuditKnowledge, AuditRow, AuditSource } from '../auditSource.ts';
import { verifyAudit } from '../verifyAudit.ts';
import { storedAgent } from './agentTable.ts';
import { auditRecord } from './auditTable.ts';
import { storeFault } from './faults.ts';
import { signedHead } from './headTable.ts';
import { nameOfLease, storedLease } from './leaseTable.ts';
import { storedHuman } from './peopleTable.ts';
import { integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';
import { GOAL_COLUMN, summary } from './summary.ts';
import { storedWebhook } from './webhookTable.ts';
import { parseWorkflow } from './workflowTable.ts';

/** Verifies a database on a connection of its own, in one read transaction: others may write meanwhile. */
export async function verifySqlite(
  options: AuditKnowledge & { readonly file: string; readonly seal: Seal },
): Promise<AuditReport> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(options.file, { readOnly: true });
    database.exec('PRAGMA busy_timeout=5000; BEGIN');
    return await verifyAudit(sourceOf(database, options.seal), options.seal, options);
  } catch (error) {
    throw storeFault(error, options.file);
  } finally {
    database?.close();
  }
}

function sourceOf(database: DatabaseSync, seal: Seal): AuditSource {
  const seqOf = lazily(database, 'SELECT seq FROM runs WHERE id = ?');
  const hashAt = lazily(database, 'SELECT hash FROM audit WHERE run = ? AND seq = ?');
  const records = lazily(database, 'SELECT * FROM audit WHERE run = ? ORDER BY seq');
  const workflow = lazily(database, 'SELECT data FROM workflows WHERE hash = ?');
  return {
    *rows() {
      for (const row of database.prepare(ROWS).iterate()) yield auditRow(row);
    },
    *records(run) {
      for (const row of records().iterate(run ?? '')) yield auditRecord(row);
    },
    seqOf(run) {
      const row = seqOf().get(run);
      return row && integer(row, 'seq');
    },
    hashAt(run, seq) {
      const row = hashAt().get(run, seq);
      return row && text(row, 'hash');
    },
    *orphans() {
      for (const row of database.prepare(ORPHANS).iterate()) yield text(row, 'run');
    },
    head() {
      const row = database.prepare('SELECT * FROM heads').get();
      return row && signedHead(row);
    },
    workflow(hash) {
      const row = workflow().get(hash);
      return row === undefined ? null : parseWorkflow(text(row, 'data'), hash);
    },
    humans: () =>
      database
        .prepare('SELECT * FROM humans ORDER BY name')
        .all()
        .map((row) => storedHuman(seal, row)),
    agents: () =>
      database
        .prepare('SELECT * FROM agents ORDER BY name')
        .all()
        .map((row) => storedAgent(seal, row)),
    *unsealed() {
      for (const row of database.prepare('SELECT * FROM leases ORDER BY run, item').iterate()) {
        const { lease, sealed } = storedLease(seal, row);
        if (!sealed) yield nameOfLease(lease);
      }
      for (const row of database.prepare('SELECT * FROM webhooks ORDER BY rowid').iterate()) {
        if (storedWebhook(seal, row) === null) yield `webhook \`${text(row, 'id')}\``;
      }
    },
  };
}

const ROWS = `SELECT *, ${GOAL_COLUMN} FROM runs ORDER BY rowid`;

/** Goes from one run's records to the next by the index, rather than over all of them. */
const ORPHANS = `
  WITH RECURSIVE chains(run) AS (
    SELECT min(run) FROM audit WHERE run > ''
    UNION ALL
    SELECT (SELECT min(run) FROM audit WHERE run > chains.run) FROM chains WHERE chains.run IS NOT NULL
  )
  SELECT run FROM chains WHERE run IS NOT NULL AND run NOT IN (SELECT id FROM runs)`;

function auditRow(row: SqlRow): AuditRow {
  return {
    id: text(row, 'id'),
    workflowHash: text(row, 'workflow_hash'),
    version: integer(row, 'version'),
    head: { seq: integer(row, 'seq'), hash: text(row, 'hash') },
    mac: text(row, 'mac'),
    headed: { seq: integer(row, 'headed_seq'), hash: text(row, 'headed_hash') },
    state: text(row, 'state'),
    columns: columnsOf(row),
  };
}

function columnsOf(row: SqlRow): AuditRow['columns'] {
  try {
    return {
      ...summary(row),
      workflowHash: text(row, 'workflow_hash'),
      claimPlace: textOrNull(row, 'claim_place'),
      gateDue: textOrNull(row, 'gate_due'),
      targetKey: textOrNull(row, 'target_key'),
    };
  } catch {
    // Columns that make no sense equal no run, which is what is found about them.
    return {};
  }
}

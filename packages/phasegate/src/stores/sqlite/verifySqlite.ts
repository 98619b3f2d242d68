import { DatabaseSync } from 'node:sqlite';
import { own } from '@phasegate/core';
import type { AuditReport, Seal } from '../../runtime/ports.ts';
import type { AuditKnowledge, AuditRow, AuditSource } from '../auditSource.ts';
import { sealStored } from '../runSeal.ts';
import { sameMac } from '../sealedRecord.ts';
import { verifyAudit } from '../verifyAudit.ts';
import { storedAgent } from './agentTable.ts';
import { auditRecord, namelessChain, PROJECT } from './auditTable.ts';
import { storeFault } from './faults.ts';
import { signedHead } from './headTable.ts';
import { nameOfLease, storedLease } from './leaseTable.ts';
import { storedHuman } from './peopleTable.ts';
import { readStored } from './runTexts.ts';
import { hex, integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';
import { GOAL_COLUMN, summary } from './summary.ts';
import { openTextTable, type TextTable } from './textTable.ts';
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
  const texts = openTextTable(database);
  const keyOf = lazily(database, 'SELECT key FROM runs WHERE id = ?');
  const seqOf = lazily(
    database,
    'SELECT seq FROM run_heads JOIN runs ON runs.key = run_heads.run WHERE runs.id = ?',
  );
  const hashAt = lazily(database, 'SELECT hash FROM audit WHERE run = ? AND seq = ?');
  const records = lazily(database, 'SELECT * FROM audit WHERE run = ? ORDER BY seq');
  const workflow = lazily(database, 'SELECT data FROM workflows WHERE hash = ?');

  function chainOf(run: string | null): number {
    if (run === null) return PROJECT;
    const row = keyOf().get(run);
    return row === undefined ? NO_CHAIN : integer(row, 'key');
  }

  return {
    *rows() {
      for (const row of database.prepare(ROWS).iterate()) yield auditRow(row, seal, texts);
    },
    *records(run) {
      for (const row of records().iterate(chainOf(run))) yield auditRecord(row, run, texts);
    },
    seqOf(run) {
      const row = seqOf().get(run);
      return row && integer(row, 'seq');
    },
    hashAt(run, seq) {
      const row = hashAt().get(chainOf(run), seq);
      return row && hex(row, 'hash');
    },
    *orphans() {
      for (const row of database.prepare(ORPHANS).iterate()) {
        const key = integer(row, 'run');
        const [first] = records().all(key);
        // The run is gone, and only its first record still has its name.
        const name = first && own(auditRecord(first, null, texts).data, 'id');
        yield typeof name === 'string' ? name : namelessChain(key);
      }
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

/** No run has it. */
const NO_CHAIN = -1;

const ROWS = `SELECT *, ${GOAL_COLUMN}
  FROM runs LEFT JOIN run_heads ON run_heads.run = runs.key ORDER BY runs.key`;

/** Goes from one run's records to the next by the index, rather than over all of them. */
const ORPHANS = `
  WITH RECURSIVE chains(run) AS (
    SELECT min(run) FROM audit WHERE run > ${PROJECT}
    UNION ALL
    SELECT (SELECT min(run) FROM audit WHERE run > chains.run) FROM chains WHERE chains.run IS NOT NULL
  )
  SELECT run FROM chains WHERE run IS NOT NULL AND run NOT IN (SELECT key FROM runs)`;

function auditRow(row: SqlRow, seal: Seal, texts: TextTable): AuditRow {
  const id = text(row, 'id');
  const { run, mac, head, ...stored } = readStored(row, texts);
  return {
    id,
    workflowHash: text(row, 'workflow_hash'),
    head,
    sealed: run !== null && sameMac(mac, sealStored(seal, { runId: id, head, ...stored })),
    headed: { seq: integer(row, 'headed_seq'), hash: hex(row, 'headed_hash') },
    run,
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

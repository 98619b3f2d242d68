import type { DatabaseSync } from 'node:sqlite';
import {
  FIRST_HEAD,
  headIsGenuine,
  moveHead,
  type SignedHead,
  signHead,
  sumFrom,
  sumText,
  type UnsignedHead,
} from '@phasegate/audit';
import { PhasegateError } from '@phasegate/core';
import type { AuditDraft, ChainHead, Seal } from '../../runtime/ports.ts';
import { type AuditTable, PROJECT } from './auditTable.ts';
import { bytes, hex, integer, lazily, type SqlRow, text } from './statements.ts';

/** The signed head, and with it the project's chain, which it is renewed for. */
export interface HeadTable {
  /** Throws `audit_broken` when the head is forged or gone: signing on would hide that. */
  require(): void;
  /** Where the project's chain ends as the stored head has it, now. Throws as `require` does. */
  stored(): ChainHead;
  /** Appends to the project's chain. */
  append(drafts: readonly AuditDraft[]): void;
  /** A run's chain has grown in this batch. */
  moved(run: number): void;
  /** Adds the present heads of all runs that moved since they were last added. */
  fold(): void;
  /** Notes the runs that moved, for the one who folds next. */
  remember(): void;
  /** Signs and writes the head, if the batch changed it. */
  write(time: string): void;
  /** To be called when another process may have written. */
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** Opens the table. */
export function openHeadTable(database: DatabaseSync, seal: Seal, audit: AuditTable): HeadTable {
  const read = lazily(database, 'SELECT * FROM heads');
  const written = lazily(database, WRITTEN);
  const upsert = lazily(database, UPSERT);
  const unheaded = lazily(database, 'SELECT run FROM unheaded');
  const mark = lazily(database, 'INSERT OR IGNORE INTO unheaded (run) VALUES (?)');
  const unmark = lazily(database, 'DELETE FROM unheaded');
  const readHeads = lazily(database, HEADS);
  const readHash = lazily(database, 'SELECT hash FROM audit WHERE run = ? AND seq = ?');
  const head = lazily(database, 'UPDATE run_heads SET headed_seq = ?, headed_hash = ? WHERE run = ?');
  let kept: UnsignedHead | undefined;
  let batch: UnsignedHead | undefined;
  /** Runs of ours that are not folded yet, those of this batch, and those known to be marked in the table. */
  const dirty = new Set<number>();
  const movedNow = new Set<number>();
  const marked = new Set<number>();
  let folding = false;

  function current(): UnsignedHead {
    if (batch !== undefined) return batch;
    kept ??= readHead();
    return kept;
  }

  function readHead(): UnsignedHead {
    const row = read().get();
    if (row !== undefined) {
      const found = signedHead(row);
      if (!headIsGenuine(seal, found)) throw broken('its signature is not the project’s');
      return found;
    }
    if (written().get() !== undefined) throw broken('it is missing');
    return FIRST_HEAD;
  }

  /**
   * Whether the record a run's head was signed at is still there. A run that was put back and has gone on must
   * not take its place in the sum again: the signed head is what shows it.
   */
  function stillHolds(run: number, head: ChainHead): boolean {
    if (head.seq === 0) return true;
    const row = readHash().get(run, head.seq);
    return row !== undefined && hex(row, 'hash') === head.hash;
  }

  return {
    require: () => void current(),
    stored: () => readHead().project,
    append(drafts) {
      if (drafts.length === 0) return;
      const before = current();
      const records = seal.chain(null, before.project, drafts);
      audit.append(PROJECT, records);
      const newest = records.at(-1) ?? before.project;
      batch = { ...before, project: { seq: newest.seq, hash: newest.hash } };
    },
    moved(run) {
      movedNow.add(run);
    },
    fold() {
      for (const run of movedNow) dirty.add(run);
      for (const row of unheaded().all()) dirty.add(integer(row, 'run'));
      let { sum, runs } = current();
      for (const run of dirty) {
        const row = readHeads().get(run);
        if (row === undefined) continue;
        const from = { seq: integer(row, 'headed_seq'), hash: hex(row, 'headed_hash') };
        const to = { seq: integer(row, 'seq'), hash: hex(row, 'hash') };
        if (from.seq === to.seq || !stillHolds(run, from)) continue;
        sum = moveHead(sum, seal, { runId: text(row, 'id'), from, to });
        if (from.seq === 0) runs += 1;
        head().run(to.seq, bytes(to.hash), run);
      }
      unmark().run();
      batch = { ...current(), sum, runs };
      folding = true;
    },
    remember() {
      for (const run of movedNow) {
        dirty.add(run);
        if (marked.has(run)) continue;
        mark().run(run);
        marked.add(run);
      }
      movedNow.clear();
    },
    write(time) {
      if (batch === undefined) return;
      const signed = signHead(seal, { ...batch, time });
      const { project, sum, runs, signature } = signed;
      upsert().run(
        project.seq,
        project.hash,
        sumText(sum.plain),
        sumText(sum.weighted),
        runs,
        time,
        signature,
      );
    },
    doubt() {
      kept = undefined;
      marked.clear();
    },
    committed() {
      kept = batch ?? kept;
      batch = undefined;
      if (folding) {
        dirty.clear();
        marked.clear();
      }
      movedNow.clear();
      folding = false;
    },
    discarded() {
      // A run left in `dirty` although its batch failed is looked at once more and found unmoved.
      marked.clear();
      movedNow.clear();
      batch = undefined;
      kept = undefined;
      folding = false;
    },
  };
}

/** The head from its row. */
export function signedHead(row: SqlRow): SignedHead {
  return {
    project: { seq: integer(row, 'project_seq'), hash: text(row, 'project_hash') },
    sum: { plain: sumFrom(text(row, 'sum')), weighted: sumFrom(text(row, 'weighted')) },
    runs: integer(row, 'runs'),
    time: text(row, 'time'),
    signature: text(row, 'signature'),
  };
}

const WRITTEN = `SELECT 1 FROM audit WHERE run = ${PROJECT} UNION ALL SELECT 1 FROM run_heads WHERE headed_seq > 0 LIMIT 1`;
const HEADS = `SELECT runs.id, run_heads.* FROM run_heads JOIN runs ON runs.key = run_heads.run WHERE run_heads.run = ?`;
const UPSERT = `INSERT OR REPLACE INTO heads (one, project_seq, project_hash, sum, weighted, runs, time, signature)
  VALUES (1, ?, ?, ?, ?, ?, ?, ?)`;

function broken(what: string): PhasegateError {
  return new PhasegateError('audit_broken', `the signed head of the audit cannot be continued: ${what}`, {
    hint: 'run `phasegate audit verify` to see what was changed, and `phasegate restore` to go back to a backup',
  });
}

import type { DatabaseSync } from 'node:sqlite';
import type { Run, RunQuery, RunSummary } from '@phasegate/core';
import type { ChainHead, Seal } from '../../runtime/ports.ts';
import { sameMac, tampered } from '../sealedRecord.ts';
import { runFromState } from '../storedRun.ts';
import { integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';
import type { WorkflowTable } from './workflowTable.ts';

/** A run as stored, with what its next write needs. */
export interface RunRow {
  readonly run: Run;
  readonly state: string;
  readonly version: number;
  readonly head: ChainHead;
  readonly mac: string;
}

/** The runs, with the ones last used kept parsed until they end. */
export interface RunTable {
  /** The newest committed row, or within a batch the row as the batch has made it. Throws `state_tampered`. */
  current(id: string): RunRow | undefined;
  insert(row: RunRow): void;
  /** False when the stored version is not `version`. */
  update(row: RunRow, version: number): boolean;
  list(query: RunQuery): readonly RunSummary[];
  /** To be called when another process may have written: what is kept must be looked at again. */
  doubt(): void;
  /** The batch is on disk. */
  committed(): void;
  /** The batch never happened. */
  discarded(): void;
}

/** Opens the table. */
export function openRunTable(database: DatabaseSync, seal: Seal, workflows: WorkflowTable): RunTable {
  const readMac = lazily(database, 'SELECT mac FROM runs WHERE id = ?');
  const readRow = lazily(database, 'SELECT version, seq, hash, mac, state FROM runs WHERE id = ?');
  const insertRow = lazily(database, INSERT);
  const updateRow = lazily(database, UPDATE);
  const readList = lazily(database, LIST);
  const kept = new Map<string, Kept>();
  const batch = new Map<string, RunRow>();
  let generation = 0;

  function keep(id: string, row: RunRow): void {
    kept.delete(id);
    if (ENDED.has(row.run.status)) return;
    kept.set(id, { row, generation });
    if (kept.size <= MOST_KEPT) return;
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      break;
    }
  }

  function read(id: string): RunRow | undefined {
    const found = readRow().get(id);
    if (found === undefined) return undefined;
    const row = { state: text(found, 'state'), version: integer(found, 'version'), mac: text(found, 'mac') };
    const head = { seq: integer(found, 'seq'), hash: text(found, 'hash') };
    const sealed = { runId: id, version: row.version, ...head, state: row.state };
    if (!sameMac(row.mac, seal.mac(sealed))) throw tampered(`run \`${id}\``);
    const run = runFromState(row.state, workflows.load);
    return { ...row, head, run };
  }

  return {
    current(id) {
      const written = batch.get(id);
      if (written !== undefined) return written;
      const known = kept.get(id);
      if (known !== undefined && (known.generation === generation || sameStill(known, readMac().get(id)))) {
        keep(id, known.row);
        return known.row;
      }
      const row = read(id);
      if (row === undefined) kept.delete(id);
      else keep(id, row);
      return row;
    },
    insert(row) {
      const { run } = row;
      insertRow().run(run.id, run.workflowHash, run.workflow.id, run.target, run.startedAt, ...columns(row));
      batch.set(run.id, row);
    },
    update(row, version) {
      const { changes } = updateRow().run(...columns(row), row.run.id, version);
      if (changes !== 1) return false;
      batch.set(row.run.id, row);
      return true;
    },
    list({ status = null, workflow = null, limit = -1 }) {
      return readList().all(status, status, workflow, workflow, limit).map(summary);
    },
    doubt() {
      generation += 1;
    },
    committed() {
      for (const [id, row] of batch) keep(id, row);
      batch.clear();
    },
    discarded() {
      batch.clear();
    },
  };
}

/** The line of a run in the list, from its columns. Throws `state_tampered` where they make none. */
export function summary(row: SqlRow): RunSummary {
  return {
    run: text(row, 'id'),
    workflow: text(row, 'workflow_id'),
    target: textOrNull(row, 'target'),
    status: text(row, 'status') as RunSummary['status'],
    phase: phaseOf(row),
    holder: textOrNull(row, 'holder'),
    epoch: integer(row, 'epoch'),
    startedAt: text(row, 'started_at'),
    updatedAt: text(row, 'updated_at'),
  };
}

/** Enough for the runs a server works on at a time, at a few KB each. */
const MOST_KEPT = 1000;

// Nobody works on a run that ended, and its workflow may be a whole specification that no other run has.
const ENDED: ReadonlySet<Run['status']> = new Set(['completed', 'stopped']);

interface Kept {
  readonly row: RunRow;
  readonly generation: number;
}

const CHANGING = 'holder, status, phase, epoch, version, seq, hash, mac, updated_at, state';
const INSERT = `INSERT INTO runs (id, workflow_hash, workflow_id, target, started_at, ${CHANGING})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const UPDATE = `UPDATE runs SET ${CHANGING.replaceAll(',', ' = ?,')} = ? WHERE id = ? AND version = ?`;
const LIST = `SELECT id, workflow_id, target, status, phase, holder, epoch, started_at, updated_at FROM runs
  WHERE (? IS NULL OR status = ?) AND (? IS NULL OR workflow_id = ?)
  ORDER BY started_at DESC, rowid DESC LIMIT ?`;

function columns({ run, state, version, head, mac }: RunRow) {
  return [
    run.holder,
    run.status,
    JSON.stringify(run.phase),
    run.epoch,
    version,
    head.seq,
    head.hash,
    mac,
    run.updatedAt,
    state,
  ] as const;
}

function phaseOf(row: SqlRow): RunSummary['phase'] {
  try {
    return JSON.parse(text(row, 'phase')) as RunSummary['phase'];
  } catch {
    throw tampered(`run \`${text(row, 'id')}\``);
  }
}

/** The MAC covers all that is kept, so an equal one means that nothing changed. */
function sameStill(known: Kept, found: SqlRow | undefined): boolean {
  return found !== undefined && text(found, 'mac') === known.row.mac;
}

import type { DatabaseSync } from 'node:sqlite';
import { PhasegateError, type Run, type RunQuery, type RunSummary } from '@phasegate/core';
import { runInTheWay } from '@phasegate/core/engine';
import type { ChainHead, Seal } from '../../runtime/ports.ts';
import { digestOf, runSealHolds, sealRun } from '../runSeal.ts';
import { tampered } from '../sealedRecord.ts';
import { capabilitiesOf, priorityOf, runFromState, summaryOf } from '../storedRun.ts';
import { createRowCache } from './rowCache.ts';
import { integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';
import type { WorkflowTable } from './workflowTable.ts';

/** A run as stored, with what its next write needs. */
export interface RunRow {
  readonly run: Run;
  readonly version: number;
  readonly head: ChainHead;
  /** Of the state's text, which is not kept beside the run it makes. */
  readonly digest: string;
  readonly mac: string;
}

/** The runs, with the ones last used kept parsed until they end. */
export interface RunTable {
  /** The newest committed row, or within a batch the row as the batch has made it. Throws `state_tampered`. */
  current(id: string): RunRow | undefined;
  /** The run is this from now on; `before` is its row until now, and none where it is new. */
  place(next: PlacedRun, before: RunRow | undefined): void;
  /** The run's chain has grown and nothing else of it changed. */
  grow(before: RunRow, head: ChainHead): void;
  /** Writes what the batch made of each run, once for each. */
  write(): void;
  /** The run that must end before this one may start, where its workflow says so; the batch's own count too. */
  inTheWayOf(run: Run): RunSummary | undefined;
  list(query: RunQuery & { readonly holder?: string }): readonly RunSummary[];
  queue(): readonly RunSummary[];
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** A run to be stored, with its text. */
export interface PlacedRun extends Pick<RunRow, 'run' | 'version' | 'head'> {
  readonly state: string;
}

/** Opens the table. */
export function openRunTable(database: DatabaseSync, seal: Seal, workflows: WorkflowTable): RunTable {
  const readSeal = lazily(database, 'SELECT version, seq, hash, mac FROM runs WHERE id = ?');
  const readRow = lazily(database, 'SELECT version, seq, hash, mac, state FROM runs WHERE id = ?');
  const insertRow = lazily(database, INSERT);
  const updateRow = lazily(database, UPDATE);
  const updateWorkflow = lazily(database, 'UPDATE runs SET workflow_hash = ? WHERE id = ?');
  const updateHead = lazily(database, 'UPDATE runs SET seq = ?, hash = ?, mac = ? WHERE id = ?');
  const readAll = lazily(database, `${LIST} WHERE ${WHOSE} ${NEWEST_FIRST}`);
  const readSome = lazily(database, `${LIST} WHERE status = ? AND ${WHOSE} ${NEWEST_FIRST}`);
  const readQueue = lazily(database, QUEUE);
  /** What the batch must write of each run. */
  const unwritten = new Map<string, Unwritten>();
  const rows = createRowCache<RunRow>({
    read,
    // The seal covers all that is kept; the columns it covers are looked at too, as one that was changed leaves it.
    unchanged(id, { version, head, mac }) {
      const found = readSeal().get(id);
      return (
        found !== undefined &&
        text(found, 'mac') === mac &&
        integer(found, 'version') === version &&
        integer(found, 'seq') === head.seq &&
        text(found, 'hash') === head.hash
      );
    },
    keeps: ({ run }) => !ENDED.has(run.status),
    most: MOST_KEPT,
  });

  function read(id: string): RunRow | undefined {
    const found = readRow().get(id);
    if (found === undefined) return undefined;
    const [state, mac] = [text(found, 'state'), text(found, 'mac')];
    const version = integer(found, 'version');
    const head = { seq: integer(found, 'seq'), hash: text(found, 'hash') };
    if (!runSealHolds(seal, mac, { runId: id, version, head, state })) throw tampered(`run \`${id}\``);
    return { run: runFromState(state, workflows.load), version, head, digest: digestOf(state), mac };
  }

  function writeOne(row: RunRow, { state, isNew, migrated }: Unwritten): void {
    const { run, version, head, mac } = row;
    if (state === null) {
      requireOne(run, updateHead().run(head.seq, head.hash, mac, run.id).changes);
      return;
    }
    const changing = [
      run.holder,
      run.status,
      JSON.stringify(run.phase),
      run.epoch,
      version,
      head.seq,
      head.hash,
      mac,
      run.updatedAt,
      priorityOf(run),
      JSON.stringify(capabilitiesOf(run)),
      state,
    ] as const;
    if (isNew) {
      insertRow().run(run.id, run.workflowHash, run.workflow.id, run.target, run.startedAt, ...changing);
    } else requireOne(run, updateRow().run(...changing, run.id).changes);
    if (migrated) updateWorkflow().run(run.workflowHash, run.id);
  }

  return {
    current: rows.current,
    place({ run, version, head, state }, before) {
      const isNew = before === undefined || unwritten.get(run.id)?.isNew === true;
      rows.change(run.id, { run, version, head, digest: digestOf(state), mac: '' });
      const earlier = unwritten.get(run.id)?.migrated === true;
      const migrated = earlier || (before !== undefined && before.run.workflowHash !== run.workflowHash);
      unwritten.set(run.id, { state, isNew, migrated });
    },
    grow(before, head) {
      const { id } = before.run;
      rows.change(id, { ...before, head });
      if (!unwritten.has(id)) unwritten.set(id, HEAD_ONLY);
    },
    write() {
      for (const [id, change] of unwritten) {
        const row = rows.current(id);
        if (row === undefined) continue;
        const sealed = { ...row, mac: sealRun(seal, { runId: id, ...row }) };
        writeOne(sealed, change);
        rows.change(id, sealed);
      }
      unwritten.clear();
    },
    inTheWayOf(run) {
      const { id, oneRunPer } = run.workflow;
      if (oneRunPer === undefined) return undefined;
      const placed = [...unwritten.keys()].flatMap((other) => rows.current(other)?.run ?? []);
      const written = readAll().all(id, id, null, null, -1).map(summary);
      return runInTheWay(run, [
        ...placed.map(summaryOf),
        ...written.filter((other) => !unwritten.has(other.run)),
      ]);
    },
    list({ status, workflow = null, holder = null, limit = -1 }) {
      const whose = [workflow, workflow, holder, holder] as const;
      const found =
        status === undefined ? readAll().all(...whose, limit) : readSome().all(status, ...whose, limit);
      return found.map(summary);
    },
    queue: () => readQueue().all().map(summary),
    doubt: rows.doubt,
    committed: rows.committed,
    discarded() {
      unwritten.clear();
      rows.discarded();
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
    phase: parsed(row, 'phase') as RunSummary['phase'],
    holder: textOrNull(row, 'holder'),
    epoch: integer(row, 'epoch'),
    priority: integer(row, 'priority'),
    capabilities: parsed(row, 'capabilities') as RunSummary['capabilities'],
    startedAt: text(row, 'started_at'),
    updatedAt: text(row, 'updated_at'),
  };
}

/** Enough for the runs a server works on at a time, at a few KB each. */
const MOST_KEPT = 1000;

// Nobody works on a run that ended, and its workflow may be a whole specification that no other run has.
const ENDED: ReadonlySet<Run['status']> = new Set(['completed', 'stopped']);

interface Unwritten {
  /** Null where only the head moved. */
  readonly state: string | null;
  readonly isNew: boolean;
  /** Whether it has another workflow than its row says; none but a migration pays for that column. */
  readonly migrated: boolean;
}

const HEAD_ONLY: Unwritten = { state: null, isNew: false, migrated: false };

const CHANGING =
  'holder, status, phase, epoch, version, seq, hash, mac, updated_at, priority, capabilities, state';
const INSERT = `INSERT INTO runs (id, workflow_hash, workflow_id, target, started_at, ${CHANGING})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const UPDATE = `UPDATE runs SET ${CHANGING.replaceAll(',', ' = ?,')} = ? WHERE id = ?`;
const LIST = `SELECT id, workflow_id, target, status, phase, holder, epoch, priority, capabilities, started_at, updated_at
  FROM runs`;
const WHOSE = '(? IS NULL OR workflow_id = ?) AND (? IS NULL OR holder = ?)';
const NEWEST_FIRST = 'ORDER BY started_at DESC, rowid DESC LIMIT ?';
// SQLite takes the index over all statuses otherwise, and sorts.
const QUEUE = `${LIST} INDEXED BY runs_in_queue WHERE status = 'queued' ORDER BY priority DESC, started_at, rowid`;

/** The row was read within the transaction that writes it, so it must be there. */
function requireOne(run: Run, changes: number | bigint): void {
  if (Number(changes) === 1) return;
  throw new PhasegateError('internal', `the row of run \`${run.id}\` was gone when it was to be written`);
}

function parsed(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(text(row, column));
  } catch {
    throw tampered(`run \`${text(row, 'id')}\``);
  }
}

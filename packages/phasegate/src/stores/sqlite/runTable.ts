import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { PhasegateError, type Run, type RunSummary } from '@phasegate/core';
import { goalOf, runInTheWay } from '@phasegate/core/engine';
import type { ChainHead, Seal } from '../../runtime/ports.ts';
import { goesOn, isFoundAlike, placesOf } from '../runPlaces.ts';
import { digestOf, runSealHolds, sealRun } from '../runSeal.ts';
import { tampered } from '../sealedRecord.ts';
import { capabilitiesOf, priorityOf, runFromState, summaryOf } from '../storedRun.ts';
import { createRowCache } from './rowCache.ts';
import type { RunFinding } from './runFinder.ts';
import { integer, lazily, text } from './statements.ts';
import type { WorkflowTable } from './workflowTable.ts';

/** A run as stored, with what its next write needs. */
export interface RunRow {
  readonly run: Run;
  readonly version: number;
  readonly head: ChainHead;
  /** Of the state's text, which is not kept beside the run it makes. */
  readonly digest: string;
  readonly mac: string;
  /** Whether it is among the runs to be looked at when nothing happens in them. */
  readonly watched: boolean;
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
  /** Nothing happens in the run since then; with null nobody need look before it is written. */
  rest(row: RunRow, since: string | null): void;
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** A run to be stored, with its text. */
export interface PlacedRun extends Pick<RunRow, 'run' | 'version' | 'head'> {
  readonly state: string;
}

/** Opens the table. */
export function openRunTable(
  database: DatabaseSync,
  seal: Seal,
  { workflows, finding }: { readonly workflows: WorkflowTable; readonly finding: RunFinding },
): RunTable {
  const readSeal = lazily(database, `SELECT ${SEALED} FROM runs WHERE id = ?`);
  const readRow = lazily(database, `SELECT ${SEALED}, state FROM runs WHERE id = ?`);
  const insertRow = lazily(database, INSERT);
  const insertGoal = lazily(database, 'INSERT INTO goals (run, goal) VALUES (?, ?)');
  const updateRow = lazily(database, UPDATE);
  const updateAll = lazily(database, UPDATE_ALL);
  const updateQuiet = lazily(database, 'UPDATE runs SET quiet_since = ? WHERE id = ?');
  const updateWorkflow = lazily(database, 'UPDATE runs SET workflow_hash = ? WHERE id = ?');
  const updateHead = lazily(database, 'UPDATE runs SET seq = ?, hash = ?, mac = ? WHERE id = ?');
  /** What the batch must write of each run. */
  const unwritten = new Map<string, Unwritten>();
  const rows = createRowCache<RunRow>({
    read,
    // The seal covers all that is kept; the columns it covers are looked at too, as one that was changed leaves it.
    unchanged(id, { version, head, mac, watched }) {
      const found = readSeal().get(id);
      return (
        found !== undefined &&
        text(found, 'mac') === mac &&
        integer(found, 'version') === version &&
        integer(found, 'seq') === head.seq &&
        text(found, 'hash') === head.hash &&
        (found.quiet_since !== null) === watched
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
    const watched = found.quiet_since !== null;
    return { run: runFromState(state, workflows.load), version, head, digest: digestOf(state), mac, watched };
  }

  function writeOne(row: RunRow, { state, isNew, migrated, places }: Unwritten): void {
    const { run, version, head, mac } = row;
    if (state === null) {
      requireOne(run, updateHead().run(head.seq, head.hash, mac, run.id).changes);
      return;
    }
    const phase = JSON.stringify(run.phase);
    const changing = [phase, run.epoch, version, head.seq, head.hash, mac, run.updatedAt, state] as const;
    if (isNew) {
      const fixed = [run.id, run.workflowHash, run.workflow.id, run.target, run.startedAt] as const;
      insertRow().run(...fixed, ...placesIn(run), ...changing);
      const { goal } = goalOf(run);
      if (goal !== undefined) insertGoal().run(run.id, JSON.stringify(goal));
      return;
    }
    const { changes } = places
      ? updateAll().run(...placesIn(run), ...changing, run.id)
      : updateRow().run(...changing, run.id);
    requireOne(run, changes);
    if (migrated) updateWorkflow().run(run.workflowHash, run.id);
  }

  return {
    current: rows.current,
    place({ run, version, head, state }, before) {
      const isNew = before === undefined || unwritten.get(run.id)?.isNew === true;
      const watched = goesOn(run);
      rows.change(run.id, { run, version, head, digest: digestOf(state), mac: '', watched });
      const earlier = unwritten.get(run.id);
      const migrated =
        earlier?.migrated === true || (before !== undefined && before.run.workflowHash !== run.workflowHash);
      const places =
        earlier?.places === true ||
        before?.watched !== watched ||
        before === undefined ||
        !isFoundAlike(before.run, run);
      unwritten.set(run.id, { state, isNew, migrated, places });
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
      const targets = oneRunPer === 'workflow' ? {} : { targets: [run.target ?? ''] };
      const written = finding.notOver({ workflow: id, ...targets, limit: unwritten.size + 1 });
      return runInTheWay(run, [
        ...placed.map(summaryOf),
        ...written.filter((other) => !unwritten.has(other.run)),
      ]);
    },
    rest(row, since) {
      const { id } = row.run;
      if (since !== null && !goesOn(row.run)) return;
      if (Number(updateQuiet().run(since, id).changes) === 0) return;
      rows.change(id, { ...row, watched: since !== null });
    },
    doubt: rows.doubt,
    committed: rows.committed,
    discarded() {
      unwritten.clear();
      rows.discarded();
    },
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
  /** Whether it is listed or found under other values than its row has; most transitions write no index. */
  readonly places: boolean;
}

const HEAD_ONLY: Unwritten = { state: null, isNew: false, migrated: false, places: false };

const SEALED = 'version, seq, hash, mac, quiet_since';
const PLACES = 'holder, status, priority, capabilities, claim_place, gate_due, target_key, quiet_since';
const CHANGING = 'phase, epoch, version, seq, hash, mac, updated_at, state';
const INSERT = `INSERT INTO runs (id, workflow_hash, workflow_id, target, started_at, ${PLACES}, ${CHANGING})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const UPDATE = `UPDATE runs SET ${CHANGING.replaceAll(',', ' = ?,')} = ? WHERE id = ?`;
const UPDATE_ALL = UPDATE.replace(' SET ', ` SET ${PLACES.replaceAll(',', ' = ?,')} = ?, `);

/** What a run is listed and found by. */
function placesIn(run: Run): SQLInputValue[] {
  const { claimPlace, gateDue, targetKey } = placesOf(run);
  return [
    run.holder,
    run.status,
    priorityOf(run),
    JSON.stringify(capabilitiesOf(run)),
    claimPlace,
    gateDue,
    targetKey,
    goesOn(run) ? run.updatedAt : null,
  ];
}

/** The row was read within the transaction that writes it, so it must be there. */
function requireOne(run: Run, changes: number | bigint): void {
  if (Number(changes) === 1) return;
  throw new PhasegateError('internal', `the row of run \`${run.id}\` was gone when it was to be written`);
}

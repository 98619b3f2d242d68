import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  CHANGED_ITEMS,
  type CutRun,
  capabilitiesOf,
  digestOf,
  goesOn,
  ITEMS,
  isFoundAlike,
  isInPlace,
  MOST_KEPT_CHARACTERS,
  type Part,
  placesKeepingOut,
  placesOf,
  priorityOf,
  type StepSums,
  sameMac,
  sealStored,
  storedState,
  summaryOf,
  tampered,
  wholeLength,
  withPlaces,
  withPlacesOf,
  withStep,
} from '@phasegate/audit';
import { PhasegateError, type Run, type RunSummary } from '@phasegate/core';
import { goalOf, runInTheWay } from '@phasegate/core/engine';
import type { ChainHead, Seal } from '../../runtime/ports.ts';
import { withLateHistory } from './lateHistory.ts';
import { createRowCache, type RowCache } from './rowCache.ts';
import type { RunFinding } from './runFinder.ts';
import { NO_HISTORY, readStored } from './runTexts.ts';
import { bytes, hex, integer, lazily } from './statements.ts';
import { type HistoryPlace, openStoredHistory } from './storedHistory.ts';
import type { TextTable } from './textTable.ts';
import type { WorkflowTable } from './workflowTable.ts';

/** A run as stored, with what its next write needs. */
export interface RunRow extends StepSums {
  /** The number its rows in other tables have. */
  readonly key: number;
  readonly run: Run;
  readonly version: number;
  readonly head: ChainHead;
  /** Of the state's text, which is not kept beside the run it makes. */
  readonly digest: string;
  /** The newest of what was ever added to the run. */
  readonly lastStep: number | null;
  /** The step before all items, where nothing but changes of them came after; undefined where something did. */
  readonly beforeItems: number | null | undefined;
  readonly mac: string;
  /** Whether it is among the runs to be looked at when nothing happens in them. */
  readonly watched: boolean;
  readonly stateLength: number;
  /** Whether its items stand in its steps rather than in its state. */
  readonly itemsApart: boolean;
  /** Given where what is large in its completions is read when it is asked for: the characters of the rest of them. */
  readonly historyLength?: number;
}

/** The runs, with the ones last used kept parsed until they end. */
export interface RunTable {
  /** The newest committed row, or within a batch the row as the batch has made it. Throws `state_tampered`. */
  current(id: string): RunRow | undefined;
  /** The number of a run, whether or not it can be read. */
  keyOf(id: string): number | undefined;
  /** A number no run has or had. */
  newKey(): number;
  /** The run is this from now on; `before` is its row until now, and none where it is new. */
  place(next: PlacedRun, before: RunRow | undefined): void;
  /** The run's chain has grown and nothing else of it changed. */
  grow(before: RunRow, head: ChainHead): void;
  /** Writes what the batch made of each run, once for each. */
  write(): void;
  /** The run that must end before this one may start, where its workflow says so; the batch's own count too. */
  inTheWayOf(run: Run): RunSummary | undefined;
  /** Whether the run comes to hold a workspace that another one has; the batch's own count too. */
  isKeptOut(before: Run | undefined, run: Run): boolean;
  /** The batch has taken the run's rows away. */
  moved(id: string): void;
  /** Nothing happens in the run since then; with null nobody need look before it is written. */
  rest(row: RunRow, since: string | null): void;
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** A run to be stored, with its texts and where their large values stand. */
export interface PlacedRun extends Pick<RunRow, 'key' | 'run' | 'version' | 'head'> {
  readonly cut: CutRun;
  readonly placeOf: (part: Part) => string;
}

/** Opens the table. */
export function openRunTable(
  database: DatabaseSync,
  seal: Seal,
  parts: { readonly workflows: WorkflowTable; readonly finding: RunFinding; readonly texts: TextTable },
): RunTable {
  const { workflows, finding, texts } = parts;
  const readSeal = lazily(database, SEALED);
  const readRow = lazily(database, ROW);
  const readKey = lazily(database, 'SELECT key FROM runs WHERE id = ?');
  const highest = lazily(database, HIGHEST);
  const insertRow = lazily(database, INSERT);
  const insertGoal = lazily(database, 'INSERT INTO goals (run, goal) VALUES (?, ?)');
  const countOverrides = lazily(
    database,
    'INSERT INTO overridden (run, phases) VALUES (?, ?) ON CONFLICT DO UPDATE SET phases = excluded.phases',
  );
  const insertPlace = lazily(database, 'INSERT OR REPLACE INTO workspaces (run, place) VALUES (?, ?)');
  const dropPlace = lazily(database, 'DELETE FROM workspaces WHERE run = ?');
  const insertHead = lazily(database, INSERT_HEAD);
  const updateRow = lazily(database, UPDATE);
  const updateAll = lazily(database, UPDATE_ALL);
  const updateQuiet = lazily(database, 'UPDATE runs SET quiet_since = ? WHERE key = ?');
  const updateWorkflow = lazily(database, 'UPDATE runs SET workflow_hash = ? WHERE key = ?');
  const updateHead = lazily(database, UPDATE_HEAD);
  let lastKey: number | undefined;
  /** What the batch must write of each run. */
  const unwritten = new Map<string, Unwritten>();
  const history = openStoredHistory(texts, keyNow);
  const source = { unchanged, size: sizeOf, light };
  /** Runs that ended, without their history: tokens of them are shown for hours, and asked about. */
  const ended = createRowCache<RunRow>({
    ...source,
    read,
    keeps: ({ run }) => ENDED.has(run.status),
    most: MOST_ENDED,
    mostSize: MOST_KEPT_CHARACTERS / 4,
    isAlwaysLight: true,
  });
  const live = createRowCache<RunRow>({
    ...source,
    read: ended.current,
    keeps: ({ run }) => !ENDED.has(run.status),
    most: MOST_KEPT,
    mostSize: MOST_KEPT_CHARACTERS,
  });
  const rows: RowCache<RunRow> = {
    current: live.current,
    change(id, row) {
      live.change(id, row);
      ended.change(id, row);
    },
    doubt() {
      live.doubt();
      ended.doubt();
    },
    committed() {
      live.committed();
      ended.committed();
    },
    discarded() {
      live.discarded();
      ended.discarded();
    },
  };

  /** The seal covers all that is kept; the columns it covers are looked at too, as one that was changed leaves it. */
  function unchanged(_: string, { key, version, head, mac, watched }: RunRow): boolean {
    const found = readSeal().get(key);
    return (
      found !== undefined &&
      hex(found, 'mac') === mac &&
      integer(found, 'version') === version &&
      integer(found, 'seq') === head.seq &&
      hex(found, 'hash') === head.hash &&
      (found.quiet_since !== null) === watched
    );
  }

  function keyNow(id: string): number | undefined {
    const row = readKey().get(id);
    return row && integer(row, 'key');
  }

  /** Without its evidence; one that ended without its workflow, too, which no other run may have. */
  function light(row: RunRow): RunRow {
    if (row.historyLength !== undefined) return row;
    const { lastStep, steps, run } = row;
    // Nothing that is kept for it holds on to the run.
    const place: HistoryPlace = { id: run.id, key: row.key, lastStep, steps };
    const completion = history.of(place);
    const parts = ENDED.has(run.status) ? { completion, workflow: workflows.load } : { completion };
    return { ...row, ...withLateHistory(run, parts) };
  }

  function read(id: string): RunRow | undefined {
    const found = readRow().get(id);
    if (found === undefined) return undefined;
    const stored = readStored(found, texts);
    const { run, mac } = stored;
    if (run === null || !sameMac(mac, sealStored(seal, { runId: id, ...stored })))
      throw tampered(`run \`${id}\``);
    const workflow = workflows.load(run.workflowHash);
    return { ...stored, run: { ...run, workflow } as Run, watched: found.quiet_since !== null };
  }

  function writeOne(row: RunRow, { state, isNew, migrated, places }: Unwritten): void {
    const { key, run, version, head, mac, lastStep } = row;
    const headed = [version, head.seq, bytes(head.hash), bytes(mac)] as const;
    if (isNew) insertHead().run(key, ...headed);
    else requireOne(run, updateHead().run(...headed, key).changes);
    if (state === null) return;
    if (isNew || places) writeWorkspace(key, run, isNew);
    const changing = [JSON.stringify(run.phase), run.epoch, run.updatedAt, lastStep, state] as const;
    if (isNew) {
      const fixed = [run.id, run.workflowHash, run.workflow.id, run.target, run.startedAt] as const;
      insertRow().run(key, ...fixed, ...foundBy(run), ...changing);
      const { goal } = goalOf(run);
      if (goal !== undefined) insertGoal().run(run.id, JSON.stringify(goal));
      return;
    }
    if (run.overrides !== undefined) countOverrides().run(run.id, run.overrides.length);
    const { changes } = places
      ? updateAll().run(...foundBy(run), ...changing, key)
      : updateRow().run(...changing, key);
    requireOne(run, changes);
    if (migrated) updateWorkflow().run(run.workflowHash, key);
  }

  function writeWorkspace(key: number, run: Run, isNew: boolean): void {
    const { workspace } = placesOf(run);
    if (workspace !== null) insertPlace().run(key, workspace);
    else if (!isNew) dropPlace().run(key);
  }

  return {
    current: rows.current,
    keyOf: keyNow,
    newKey() {
      lastKey = (lastKey ?? integer(highest().get() ?? {}, 'key')) + 1;
      return lastKey;
    },
    place({ key, run, version, head, cut, placeOf }, before) {
      const { itemsApart } = cut;
      let { lastStep, beforeItems } = before ?? NO_HISTORY;
      let sums: StepSums = before ?? NO_HISTORY;
      for (const { kind, cut: step } of cut.steps) {
        const stored = withPlaces(step, placeOf);
        // All items take the place of those before and their changes, which nobody reads any more then.
        const link = kind === ITEMS && beforeItems !== undefined ? beforeItems : lastStep;
        if (kind !== CHANGED_ITEMS) beforeItems = kind === ITEMS ? link : undefined;
        lastStep = texts.add({ run: key, kind, before: link }, stored);
        sums = withStep(sums, { kind, text: stored });
      }
      const state = storedState(cut, placeOf);
      const { steps, stepsLength, itemsLength, changesLength } = sums;
      const isNew = before === undefined || unwritten.get(run.id)?.isNew === true;
      const watched = goesOn(run);
      const places = withPlacesOf(sums.places, state);
      const sealed = { digest: digestOf(state), steps, lastStep, beforeItems, places, mac: '' };
      const lengths = { stepsLength, itemsLength, changesLength, stateLength: wholeLength(state) };
      rows.change(run.id, { key, run, version, head, ...sealed, watched, itemsApart, ...lengths });
      const earlier = unwritten.get(run.id);
      const migrated =
        earlier?.migrated === true || (before !== undefined && before.run.workflowHash !== run.workflowHash);
      const foundAnew =
        earlier?.places === true ||
        before?.watched !== watched ||
        before === undefined ||
        !isFoundAlike(before.run, run);
      unwritten.set(run.id, { state, isNew, migrated, places: foundAnew });
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
        const { workflowHash } = row.run;
        const sealed = { ...row, mac: sealStored(seal, { runId: id, workflowHash, ...row }) };
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
    isKeptOut(before, run) {
      const places = placesKeepingOut(before, run);
      if (places.length === 0) return false;
      for (const id of unwritten.keys()) {
        const other = id === run.id ? undefined : rows.current(id)?.run;
        if (other !== undefined && isInPlace(other, places)) return true;
      }
      const written = finding.inPlaces(places, unwritten.size + 2);
      return written.some((other) => other.run !== run.id && !unwritten.has(other.run));
    },
    moved(id) {
      unwritten.delete(id);
      rows.change(id, null);
    },
    rest(row, since) {
      const { id } = row.run;
      if (since !== null && !goesOn(row.run)) return;
      if (Number(updateQuiet().run(since, row.key).changes) === 0) return;
      rows.change(id, { ...row, watched: since !== null });
    },
    doubt() {
      lastKey = undefined;
      rows.doubt();
    },
    committed: rows.committed,
    discarded() {
      lastKey = undefined;
      unwritten.clear();
      rows.discarded();
    },
  };
}

/** Enough for the runs a server works on at a time, at a few KB each. */
const MOST_KEPT = 1000;

/** Of these little is kept. */
const MOST_ENDED = 100;

/** How much of memory a row takes, by the characters it was read from. */
function sizeOf({ historyLength, stepsLength, stateLength, itemsLength, changesLength }: RunRow): number {
  return (
    stateLength + (historyLength === undefined ? stepsLength : historyLength + itemsLength + changesLength)
  );
}

// Nobody works on a run that ended.
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

const SEALED = `SELECT version, seq, hash, mac, quiet_since FROM run_heads JOIN runs ON runs.key = run_heads.run
  WHERE run_heads.run = ?`;
/** A row with its head; one whose head is gone matches no seal. */
const ROW = 'SELECT * FROM runs LEFT JOIN run_heads ON run_heads.run = runs.key WHERE runs.id = ?';
// Of a run that was dropped the records may still be there; a run that got its number would go on with them.
const HIGHEST = `SELECT max(coalesce((SELECT max(key) FROM runs), 0), coalesce((SELECT max(run) FROM audit), 0),
  coalesce((SELECT max(key) FROM archived), 0)) AS key`;
const PLACES = 'holder, status, priority, capabilities, claim_place, gate_due, target_key, quiet_since';
const CHANGING = 'phase, epoch, updated_at, last_step, state';
const INSERT = `INSERT INTO runs (key, id, workflow_hash, workflow_id, target, started_at, ${PLACES}, ${CHANGING})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_HEAD = 'INSERT INTO run_heads (run, version, seq, hash, mac) VALUES (?, ?, ?, ?, ?)';
const UPDATE_HEAD = 'UPDATE run_heads SET version = ?, seq = ?, hash = ?, mac = ? WHERE run = ?';
const UPDATE = `UPDATE runs SET ${CHANGING.replaceAll(',', ' = ?,')} = ? WHERE key = ?`;
const UPDATE_ALL = UPDATE.replace(' SET ', ` SET ${PLACES.replaceAll(',', ' = ?,')} = ?, `);

/** What a run is listed and found by. */
function foundBy(run: Run): SQLInputValue[] {
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

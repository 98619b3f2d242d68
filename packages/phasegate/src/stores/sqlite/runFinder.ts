import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { treesIn, wantedPlace } from '@phasegate/audit';
import type { RunSummary } from '@phasegate/core';
import { RUN_STATUSES, UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { canClaim } from '@phasegate/core/engine';
import { targetKey } from '@phasegate/core/model';
import type {
  ClaimableQuery,
  ClaimableRun,
  NotOverQuery,
  QuietRun,
  RunFinder,
  RunListQuery,
  StoppedQuery,
} from '../../runtime/ports.ts';
import { auditRecord, timeOf } from './auditTable.ts';
import { integer, type Lazy, lazily, type SqlRow, text } from './statements.ts';
import { GOAL_COLUMN, OVERRIDDEN_COLUMN, summary } from './summary.ts';
import type { TextTable } from './textTable.ts';

/** What is read of runs by index, and, but for the measures they have, never their state. */
export interface RunFinding {
  list(query: RunListQuery): readonly RunSummary[];
  claimable(query: Parameters<RunFinder['claimable']>[0]): readonly ClaimableRun[];
  gatesDue(now: string): readonly string[];
  quiet(query: Parameters<RunFinder['quiet']>[0]): readonly QuietRun[];
  notOver(query: NotOverQuery): readonly RunSummary[];
  /** Runs that hold the workspace in one of these ways, in no order. */
  inPlaces(places: readonly string[], limit: number): readonly RunSummary[];
  stopped(query: StoppedQuery): readonly RunSummary[];
  countHeld(agent: string, most: number): number;
  countByStatus(): Readonly<Partial<Record<RunSummary['status'], number>>>;
  treesInUse(): ReadonlySet<string>;
}

/** Opens it on the table of runs. */
export function openRunFinder(database: DatabaseSync, texts: Pick<TextTable, 'whole'>): RunFinding {
  const lists = new Map<string, Lazy>();
  const needs = lazily(database, NEEDS);
  const claimable = lazily(database, CLAIMABLE);
  const due = lazily(database, GATES_DUE);
  const quiet = lazily(database, QUIET);
  const stuck = lazily(database, STUCK);
  const ofWorkflow = lazily(database, `${NOT_OVER} target_key IS NOT NULL LIMIT ?`);
  const about = lazily(database, `${NOT_OVER} target_key = ?`);
  const beneath = lazily(database, `${NOT_OVER} target_key >= ? AND target_key < ?`);
  const stoppedAbout = lazily(database, `${STOPPED} target_key = ? AND updated_at < ?`);
  const stoppedBeneath = lazily(database, `${STOPPED} target_key >= ? AND target_key < ? AND updated_at < ?`);
  const held = lazily(database, HELD);
  const working = lazily(database, IN_WORKSPACE);
  const counted = lazily(database, COUNTED);
  const underWay = lazily(database, UNDER_WAY);

  function prepared(sql: string): Lazy {
    const known = lists.get(sql) ?? lazily(database, sql);
    lists.set(sql, known);
    return known;
  }

  /** Those of one need, which stand in order in the index. */
  function ofNeed(
    need: string,
    { limit, after, without = [] }: Omit<ClaimableQuery, 'capabilities'>,
  ): readonly ClaimableRun[] {
    const { key, number } = after ?? FIRST;
    const left = without.map(wantedPlace);
    // So many as there are ways to use a workspace; none is found in a place without a name.
    return claimable()
      .all(need, key, key, number, left[0] ?? '', left[1] ?? '', limit)
      .map((row) => ({
        run: text(row, 'id'),
        epoch: integer(row, 'epoch'),
        at: foundAt(row, 'claim_place'),
      }));
  }

  return {
    list(query) {
      const { sql, values } = listOf(query);
      return prepared(sql)()
        .all(...values)
        .map(summary);
    },
    claimable({ capabilities, ...page }) {
      const possible = needs()
        .all()
        .map((row) => text(row, 'need'))
        .filter((need) => canDo(need, capabilities));
      if (possible.length === 1) return ofNeed(possible[0] as string, page);
      return possible
        .flatMap((need) => ofNeed(need, page))
        .sort(inOrder)
        .slice(0, page.limit);
    },
    gatesDue: (now) =>
      due()
        .all(now)
        .map((row) => text(row, 'id')),
    quiet({ since, limit, after }) {
      const { key, number } = after ?? FIRST;
      return quiet()
        .all(since, key, key, number, limit)
        .map((row) => {
          const run = text(row, 'id');
          const said = stuck().get(integer(row, 'number'));
          return {
            run,
            at: foundAt(row, 'quiet_since'),
            newest: timeOf(row, 'newest'),
            stuck: said === undefined ? null : auditRecord(said, run, texts),
          };
        });
    },
    notOver({ workflow, targets, beneath: folders, limit = -1 }) {
      if (targets === undefined && folders === undefined) {
        return ofWorkflow().all(workflow, limit).map(summary);
      }
      const found = aboutOrBeneath({ targets, beneath: folders }, (from, to) =>
        to === null ? about().all(workflow, from) : beneath().all(workflow, from, to),
      );
      return found.slice(0, limit < 0 ? undefined : limit);
    },
    stopped({ before, ...places }) {
      const found = aboutOrBeneath(places, (from, to) =>
        to === null ? stoppedAbout().all(from, before) : stoppedBeneath().all(from, to, before),
      );
      return found.toSorted((one, other) =>
        one.updatedAt === other.updatedAt ? 0 : one.updatedAt < other.updatedAt ? 1 : -1,
      );
    },
    inPlaces: (places, limit) =>
      places.flatMap((place) => working().all(place, limit).map(summary)).slice(0, limit),
    countHeld: (agent, most) => integer(held().get(agent, most) ?? {}, 'held'),
    treesInUse() {
      const trees = new Set<string>();
      // One at a time: all of them may be more than there is room for.
      for (const row of underWay().iterate()) for (const tree of treesIn(text(row, 'state'))) trees.add(tree);
      return trees;
    },
    countByStatus: () =>
      Object.fromEntries(
        counted()
          .all()
          .map((row) => [text(row, 'status'), integer(row, 'runs')]),
      ),
  };
}

/** Runs about one of the targets, or beneath one of the folders: their keys are one, or from one to another. */
function aboutOrBeneath(
  { targets = [], beneath = [] }: Partial<Record<'targets' | 'beneath', readonly string[] | undefined>>,
  read: (from: string, to: string | null) => readonly SqlRow[],
): readonly RunSummary[] {
  const rows = targets.flatMap((target) => read(targetKey(target), null));
  for (const folder of beneath) {
    const key = targetKey(folder);
    const within = key.endsWith('/') ? key : `${key}/`;
    rows.push(...read(key, null), ...read(within, `${within.slice(0, -1)}0`));
  }
  return [...new Map(rows.map((row) => [text(row, 'id'), summary(row)])).values()];
}

/** A page of runs, newest first. Those of all statuses are taken from one list for each, which stand in order. */
export function listOf({ status, workflow, holder, seenBy, limit = -1, offset = 0 }: RunListQuery): {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
} {
  const given: SQLInputValue[] = [];
  const conditions: string[] = [];
  for (const [column, value] of [
    ['holder', holder],
    ['workflow_id', workflow],
  ] as const) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    given.push(value);
  }
  if (seenBy !== undefined) {
    conditions.push('(holder IS NULL OR holder = ?)');
    given.push(seenBy);
  }
  const index =
    holder !== undefined ? 'runs_held' : workflow !== undefined ? 'runs_by_workflow' : 'runs_by_status';
  const statuses = RUN_STATUSES.filter((known) => status === undefined || status === known);
  const selects = statuses.map(
    (known) => `${PLACES} INDEXED BY ${index} WHERE ${[`status = '${known}'`, ...conditions].join(' AND ')}`,
  );
  const from = selects.length === 0 ? `${PLACES} WHERE FALSE` : selects.join(' UNION ALL ');
  // What is left out is passed over in the index, and never read.
  const page = `${from} ORDER BY started_at DESC, number DESC LIMIT ? OFFSET ?`;
  return {
    sql: `${LINES} JOIN (${page}) AS page ON page.number = runs.rowid ${IN_ORDER}`,
    values: [...selects.flatMap(() => given), limit, offset],
  };
}

const PLACES = 'SELECT started_at, rowid AS number FROM runs';
const IN_ORDER = 'ORDER BY page.started_at DESC, page.number DESC';

const LINES = `SELECT id, workflow_id, target, status, phase, holder, epoch, priority, capabilities, runs.started_at,
  updated_at, ${GOAL_COLUMN}, ${OVERRIDDEN_COLUMN} FROM runs`;

/** From one need of runs to claim to the next, rather than over all of them: there are few. */
export const NEEDS = `
  WITH RECURSIVE needs(need) AS (
    SELECT min(capabilities) FROM runs INDEXED BY runs_claimable WHERE claim_place IS NOT NULL
    UNION ALL
    SELECT (
      SELECT min(capabilities) FROM runs INDEXED BY runs_claimable
      WHERE claim_place IS NOT NULL AND capabilities > needs.need
    ) FROM needs WHERE needs.need IS NOT NULL
  )
  SELECT need FROM needs WHERE need IS NOT NULL`;

export const CLAIMABLE = `SELECT id, epoch, claim_place, rowid AS number FROM runs INDEXED BY runs_claimable
  WHERE capabilities = ? AND claim_place >= ? AND (claim_place > ? OR rowid > ?)
    AND coalesce((SELECT place FROM workspaces WHERE workspaces.run = runs.key), '-') NOT IN (?, ?)
  ORDER BY claim_place, rowid LIMIT ?`;

export const GATES_DUE = `SELECT id FROM runs INDEXED BY runs_gate_due WHERE gate_due <= ? ORDER BY gate_due, rowid`;

export const QUIET = `SELECT id, quiet_since, rowid AS number,
    (SELECT time FROM run_heads JOIN audit ON audit.run = run_heads.run AND audit.seq = run_heads.seq
      WHERE run_heads.run = runs.key) AS newest
  FROM runs INDEXED BY runs_quiet
  WHERE quiet_since <= ? AND quiet_since >= ? AND (quiet_since > ? OR rowid > ?)
  ORDER BY quiet_since, rowid LIMIT ?`;

export const STUCK = `SELECT * FROM audit INDEXED BY audit_stuck
  WHERE run = ? AND event = 'run_stuck' ORDER BY seq DESC LIMIT 1`;

export const NOT_OVER = `${LINES} INDEXED BY runs_not_over
  WHERE status NOT IN ('completed', 'stopped') AND workflow_id = ? AND`;

export const STOPPED = `${LINES} INDEXED BY runs_stopped
  WHERE status = 'stopped' AND target_key IS NOT NULL AND`;

export const HELD = `SELECT count(*) AS held FROM (SELECT 1 FROM runs INDEXED BY runs_held
  WHERE holder = ? AND status IN (${UNFINISHED_STATUSES.map((status) => `'${status}'`).join(', ')}) LIMIT ?)`;

/** Of a run that was dropped the place may still be there. */
export const IN_WORKSPACE = `${LINES} JOIN workspaces INDEXED BY workspaces_by_place ON workspaces.run = runs.key
  WHERE workspaces.place = ? LIMIT ?`;

export const COUNTED = 'SELECT status, count(*) AS runs FROM runs INDEXED BY runs_by_status GROUP BY status';

export const UNDER_WAY = `SELECT state FROM runs INDEXED BY runs_by_status
  WHERE status IN (${['queued', ...UNFINISHED_STATUSES].map((status) => `'${status}'`).join(', ')})`;

const FIRST = { key: '', number: -1 };

function foundAt(row: SqlRow, column: string): ClaimableRun['at'] {
  return { key: text(row, column), number: integer(row, 'number') };
}

/** A need that cannot be read is nobody's to claim; a verification finds it. */
function canDo(need: string, capabilities: readonly string[]): boolean {
  try {
    return canClaim(JSON.parse(need) as readonly string[], capabilities);
  } catch {
    return false;
  }
}

function inOrder({ at: one }: ClaimableRun, { at: other }: ClaimableRun): number {
  if (one.key !== other.key) return one.key < other.key ? -1 : 1;
  return one.number - other.number;
}

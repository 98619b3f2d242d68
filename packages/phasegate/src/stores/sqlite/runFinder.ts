import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { RunSummary } from '@phasegate/core';
import { RUN_STATUSES, UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { canClaim } from '@phasegate/core/engine';
import { targetKey } from '@phasegate/core/model';
import type {
  ClaimableRun,
  FoundPage,
  NotOverQuery,
  QuietRun,
  RunFinder,
  RunListQuery,
} from '../../runtime/ports.ts';
import { auditRecord, timeOf } from './auditTable.ts';
import { integer, type Lazy, lazily, type SqlRow, text } from './statements.ts';
import { GOAL_COLUMN, summary } from './summary.ts';
import type { TextTable } from './textTable.ts';

/** What is read of runs by index, and never their state. */
export interface RunFinding {
  list(query: RunListQuery): readonly RunSummary[];
  claimable(query: Parameters<RunFinder['claimable']>[0]): readonly ClaimableRun[];
  gatesDue(now: string): readonly string[];
  quiet(query: Parameters<RunFinder['quiet']>[0]): readonly QuietRun[];
  notOver(query: NotOverQuery): readonly RunSummary[];
  countHeld(agent: string, most: number): number;
  countByStatus(): Readonly<Partial<Record<RunSummary['status'], number>>>;
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
  const held = lazily(database, HELD);
  const counted = lazily(database, COUNTED);

  function prepared(sql: string): Lazy {
    const known = lists.get(sql) ?? lazily(database, sql);
    lists.set(sql, known);
    return known;
  }

  /** Those of one need, which stand in order in the index. */
  function ofNeed(need: string, { limit, after }: FoundPage): readonly ClaimableRun[] {
    const { key, number } = after ?? FIRST;
    return claimable()
      .all(need, key, key, number, limit)
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
      const rows = (targets ?? []).flatMap((target) => about().all(workflow, targetKey(target)));
      for (const folder of folders ?? []) {
        const key = targetKey(folder);
        const within = key.endsWith('/') ? key : `${key}/`;
        rows.push(...about().all(workflow, key));
        rows.push(...beneath().all(workflow, within, `${within.slice(0, -1)}0`));
      }
      const found = new Map(rows.map((row) => [text(row, 'id'), summary(row)]));
      return [...found.values()].slice(0, limit < 0 ? undefined : limit);
    },
    countHeld: (agent, most) => integer(held().get(agent, most) ?? {}, 'held'),
    countByStatus: () =>
      Object.fromEntries(
        counted()
          .all()
          .map((row) => [text(row, 'status'), integer(row, 'runs')]),
      ),
  };
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
  updated_at, ${GOAL_COLUMN} FROM runs`;

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

export const NOT_OVER = `${LINES} INDEXED BY runs_not_over WHERE workflow_id = ? AND`;

export const HELD = `SELECT count(*) AS held FROM (SELECT 1 FROM runs INDEXED BY runs_held
  WHERE holder = ? AND status IN (${UNFINISHED_STATUSES.map((status) => `'${status}'`).join(', ')}) LIMIT ?)`;

export const COUNTED = 'SELECT status, count(*) AS runs FROM runs INDEXED BY runs_by_status GROUP BY status';

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

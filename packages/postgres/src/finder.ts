import { goesOn, placesInTheWay, tampered, treesIn, wantedPlace } from '@phasegate/audit';
import type { RunSummary } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { canClaim } from '@phasegate/core/engine';
import { targetKey } from '@phasegate/core/model';
import type { ClaimableQuery, ClaimableRun, RunFinder, RunListQuery, RunStore } from '@phasegate/core/ports';
import { auditRecord, wholeData } from './audit.ts';
import type { Database, Query } from './database.ts';
import { integer, isStorable, type Row, text, textOrNull } from './rows.ts';
import type { Writer } from './writer.ts';

/** What a store lists and finds of its runs, each by its index. */
export function finderParts(parts: {
  readonly database: Database;
  readonly writer: Writer;
}): RunFinder & Pick<RunStore, 'list'> {
  const { database, writer } = parts;
  const { query } = database;
  return {
    async list(asked) {
      const { sql, values } = listOf(asked);
      if (!values.every((value) => typeof value !== 'string' || isStorable(value))) return [];
      return (await query(sql, values)).rows.map(summary);
    },
    async claimable({ capabilities, ...page }) {
      const needs = (await query(NEEDS)).rows.map((row) => text(row, 'need'));
      const possible = needs.filter((need) => canDo(need, capabilities));
      const found = await Promise.all(possible.map((need) => ofNeed(query, need, page)));
      return found.flat().sort(inOrder).slice(0, page.limit);
    },
    async gatesDue(now) {
      const { rows } = await query('SELECT id FROM runs WHERE gate_due <= $1 ORDER BY gate_due, key', [now]);
      return rows.map((row) => text(row, 'id'));
    },
    async quiet({ since, limit, after }) {
      const { rows } = await query(QUIET, [since, after?.key ?? '', after?.number ?? -1, limit]);
      if (rows.length === 0) return [];
      const said = await query(STUCK, [rows.map((row) => integer(row, 'key'))]);
      const whole = await wholeData(query, said.rows);
      const stuck = new Map(
        said.rows.map((row, index) => [integer(row, 'run'), { row, whole: whole[index] ?? null }]),
      );
      return rows.map((row) => {
        const run = text(row, 'id');
        const found = stuck.get(integer(row, 'key'));
        return {
          run,
          at: { key: text(row, 'quiet_since'), number: integer(row, 'key') },
          newest: text(row, 'newest'),
          stuck: found === undefined ? null : auditRecord(found.row, run, found.whole),
        };
      });
    },
    lookAgain: (runId, version, since) =>
      writer.submit({
        needs: { runs: [runId] },
        act(batch) {
          const row = batch.current(runId);
          if (row?.version !== version || (since !== null && !goesOn(row.run))) return;
          batch.rest(row, since);
        },
      }),
    async stopped({ before, ...about }) {
      const { rows } = await query(`${LINES} WHERE status = 'stopped' AND updated_at < $3 AND ${ABOUT}`, [
        ...keysOf(about),
        before,
      ]);
      return rows.map(summary).sort((one, other) => compare(other.updatedAt, one.updatedAt));
    },
    notOver: (asked) => notOver(query, asked),
    async inWorkspace(hold, except) {
      const { rows } = await query(`${LINES} WHERE workspace = ANY($1) AND id <> $2 LIMIT 1`, [
        placesInTheWay(hold),
        except,
      ]);
      const [found] = rows;
      return found === undefined ? undefined : summary(found);
    },
    async countHeld(agent, most) {
      const { rows } = await query(HELD, [agent, UNFINISHED_STATUSES, most]);
      return integer(rows[0] ?? {}, 'held');
    },
    async countByStatus() {
      const { rows } = await query('SELECT status, count(*) AS runs FROM runs GROUP BY status');
      return Object.fromEntries(rows.map((row) => [text(row, 'status'), integer(row, 'runs')]));
    },
    treesInUse: () => treesInUse(query),
  };
}

/** Runs of a workflow that are not over, or those of them about something. */
export async function notOver(
  query: Query,
  { workflow, targets, beneath, limit }: Parameters<RunFinder['notOver']>[0],
): Promise<readonly RunSummary[]> {
  const base = `${LINES} WHERE workflow_id = $1 AND status NOT IN ('completed', 'stopped')`;
  if (targets === undefined && beneath === undefined) {
    const { rows } = await query(`${base} AND target_key IS NOT NULL LIMIT $2`, [workflow, limit ?? null]);
    return rows.map(summary);
  }
  const about = ABOUT.replaceAll('$2', '$3').replaceAll('$1', '$2');
  const { rows } = await query(`${base} AND ${about} LIMIT $4`, [
    workflow,
    ...keysOf({ targets, beneath }),
    limit ?? null,
  ]);
  return rows.map(summary);
}

/** The line of a run in the list, from its columns. Throws `state_tampered` where they make none. */
export function summary(row: Row): RunSummary {
  const { goal, overridden } = row;
  return {
    run: text(row, 'id'),
    workflow: text(row, 'workflow_id'),
    target: textOrNull(row, 'target'),
    ...(goal === null || goal === undefined
      ? {}
      : { goal: parsed(row, 'goal') as NonNullable<RunSummary['goal']> }),
    status: text(row, 'status') as RunSummary['status'],
    phase: parsed(row, 'phase') as RunSummary['phase'],
    holder: textOrNull(row, 'holder'),
    epoch: integer(row, 'epoch'),
    priority: integer(row, 'priority'),
    capabilities: parsed(row, 'capabilities') as RunSummary['capabilities'],
    ...(overridden === null || overridden === undefined ? {} : { overridden: integer(row, 'overridden') }),
    startedAt: text(row, 'started_at'),
    updatedAt: text(row, 'updated_at'),
  };
}

function parsed(row: Row, column: string): unknown {
  try {
    return JSON.parse(text(row, column));
  } catch {
    throw tampered(`run \`${text(row, 'id')}\``);
  }
}

async function ofNeed(
  query: Query,
  need: string,
  { limit, after, without = [] }: Omit<ClaimableQuery, 'capabilities'>,
): Promise<readonly ClaimableRun[]> {
  const { rows } = await query(CLAIMABLE, [
    need,
    after?.key ?? '',
    after?.number ?? -1,
    without.map((hold) => wantedPlace(hold)),
    limit,
  ]);
  return rows.map((row) => ({
    run: text(row, 'id'),
    epoch: integer(row, 'epoch'),
    at: { key: text(row, 'claim_place'), number: integer(row, 'key') },
  }));
}

function listOf({ status, workflow, holder, seenBy, limit, offset = 0 }: RunListQuery): {
  readonly sql: string;
  readonly values: readonly unknown[];
} {
  const values: unknown[] = [limit ?? null, offset];
  const conditions = ['true'];
  for (const [column, value] of [
    ['status', status],
    ['workflow_id', workflow],
    ['holder', holder],
  ] as const) {
    if (value === undefined) continue;
    values.push(value);
    conditions.push(`${column} = $${values.length}`);
  }
  if (seenBy !== undefined) {
    values.push(seenBy);
    conditions.push(`(holder IS NULL OR holder = $${values.length})`);
  }
  return {
    sql: `${LINES} WHERE ${conditions.join(' AND ')} ORDER BY started_at DESC, key DESC LIMIT $1 OFFSET $2`,
    values,
  };
}

/** The keys of targets, and of folders with where what is in them begins. */
function keysOf({
  targets = [],
  beneath = [],
}: Partial<Record<'targets' | 'beneath', readonly string[] | undefined>>): readonly [string[], string[]] {
  const folders = beneath.map(targetKey);
  return [
    [...targets.map(targetKey), ...folders],
    folders.map((folder) => (folder.endsWith('/') ? folder : `${folder}/`)),
  ];
}

const LINES = `SELECT id, workflow_id, target, goal, overridden, status, phase, holder, epoch, priority, capabilities,
  started_at, updated_at FROM runs`;
/** What comes right after a slash is a zero: so a folder is a part of the index. */
const ABOUT = `(target_key = ANY($1) OR EXISTS (SELECT 1 FROM unnest($2::text[]) AS folder
  WHERE target_key >= folder AND target_key < left(folder, -1) || '0'))`;

/** From one need of runs to claim to the next, rather than over all of them: there are few. */
const NEEDS = `WITH RECURSIVE needs(need) AS (
    (SELECT capabilities FROM runs WHERE claim_place IS NOT NULL ORDER BY capabilities LIMIT 1)
    UNION ALL
    SELECT (SELECT capabilities FROM runs WHERE claim_place IS NOT NULL AND capabilities > needs.need
      ORDER BY capabilities LIMIT 1) FROM needs WHERE needs.need IS NOT NULL
  )
  SELECT need FROM needs WHERE need IS NOT NULL`;

/** A run that somebody is about to write is passed over: it is most often being claimed. */
const CLAIMABLE = `SELECT r.id, r.epoch, r.claim_place, r.key FROM runs r JOIN run_heads h ON h.run = r.key
  WHERE r.capabilities = $1 AND r.claim_place IS NOT NULL AND (r.claim_place, r.key) > ($2, $3)
    AND NOT coalesce(r.workspace = ANY($4), false)
  ORDER BY r.claim_place, r.key LIMIT $5 FOR UPDATE OF h SKIP LOCKED`;

const QUIET = `SELECT r.id, r.quiet_since, r.key,
    (SELECT a.time FROM run_heads h JOIN audit a ON a.era = r.era AND a.run = h.run AND a.seq = h.seq
      WHERE h.run = r.key) AS newest
  FROM runs r WHERE r.quiet_since <= $1 AND (r.quiet_since, r.key) > ($2, $3) ORDER BY r.quiet_since, r.key LIMIT $4`;

const STUCK = `SELECT DISTINCT ON (run) * FROM audit WHERE run = ANY($1) AND event = 'run_stuck'
  ORDER BY run, seq DESC`;

const HELD = `SELECT count(*) AS held FROM
  (SELECT 1 FROM runs WHERE holder = $1 AND status = ANY($2) LIMIT $3) AS found`;

const UNDER_WAY = `SELECT key, state FROM runs WHERE status = ANY($1) AND key > $2 ORDER BY key LIMIT 500`;

async function treesInUse(query: Query): Promise<ReadonlySet<string>> {
  const trees = new Set<string>();
  for (let after = -1; ; ) {
    const { rows } = await query(UNDER_WAY, [['queued', ...UNFINISHED_STATUSES], after]);
    for (const row of rows) {
      after = integer(row, 'key');
      for (const tree of treesIn(text(row, 'state'))) trees.add(tree);
    }
    if (rows.length === 0) return trees;
  }
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
  return compare(one.key, other.key) || one.number - other.number;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

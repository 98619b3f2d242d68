import { capabilitiesOf, goesOn, leaseMac, placesOf, priorityOf } from '@phasegate/audit';
import type { Run } from '@phasegate/core';
import { goalOf } from '@phasegate/core/engine';
import type { CallRecord, Seal } from '@phasegate/core/ports';
import type { RunWrite, Writes } from './batch.ts';
import { type Ask, type ChainParts, type Mark, writeChains } from './chains.ts';
import type { Answered, Query } from './database.ts';
import { isDivisionByZero, LostRace } from './faults.ts';
import { keptMac } from './keptRows.ts';
import { columns, textOrNull } from './rows.ts';

/**
 * Writes all of a batch and commits it. Nothing here depends on an answer but that of the head: all other statements are
 * sent at once, and done by the server one after another; the commit is of the last ones, where the server says by itself
 * that the batch is not to be. `reached` is told by what the transaction is known before its commit is sent, and null where
 * it has none.
 */
export async function flush(
  query: Query,
  { writes, reached }: { readonly writes: Writes; reached(mark: Mark | null): void },
  parts: ChainParts,
): Promise<void> {
  const asked: Promise<Answered>[] = [];
  let failed = false;
  const ask: Ask = (text, values) => {
    const answer = query(text, values).catch((error: unknown) => {
      failed = true;
      // They were locked when they were read: only somebody without regard for locks comes in between.
      const isLost = text === UPDATE_HEADS && isDivisionByZero(error);
      throw isLost ? new LostRace('a run was changed in between') : error;
    });
    // All are waited for below; until then, none that fails early is nobody's.
    answer.catch(() => undefined);
    asked.push(answer);
  };
  const mark = writes.chains.length > 0 ? await writeChains({ query, ask }, writes, parts) : null;
  writeRuns(ask, writes);
  writeBeside(ask, writes, parts.seal);
  // INVARIANT: a statement that could not even be sent, and that the server so knows nothing of, is known by the next turn.
  if (mark !== null) await new Promise((resume) => setImmediate(resume));
  if (failed || mark === null) await Promise.all(asked);
  reached(mark ?? (await markOf(query)));
  ask('COMMIT');
  await Promise.all(asked);
}

/** Of a transaction without records; null where it has written nothing. */
async function markOf(query: Query): Promise<Mark | null> {
  const row = (await query(OWN_NUMBER)).rows[0] ?? {};
  const transaction = textOrNull(row, 'transaction');
  return transaction === null ? null : { transaction, proof: null, server: textOrNull(row, 'server') };
}

const OWN_NUMBER =
  'SELECT pg_current_xact_id_if_assigned()::text AS transaction, pg_postmaster_start_time()::text AS server';

function writeRuns(ask: Ask, writes: Writes): void {
  const all = [...writes.runs.values()];
  const made = all.filter(({ was }) => was === null);
  const changed = all.filter(({ was }) => was !== null);
  if (writes.workflows.size > 0) {
    const flows = [...writes.workflows].map(([hash, workflow]) => [hash, JSON.stringify(workflow)]);
    ask(INSERT_WORKFLOWS, columns(flows, 2));
  }
  if (changed.length > 0) {
    const moved = changed.map(({ row: { ref, version, head, mac }, was }) => [
      ref.key,
      was?.version,
      was?.head.seq,
      version,
      head.seq,
      head.hash,
      mac,
    ]);
    ask(UPDATE_HEADS, [...columns(moved, 7), changed.length]);
  }
  const states = changed.filter(({ state }) => state !== null);
  if (states.length > 0) {
    ask(UPDATE_RUNS, columns(states.map(stored), 19));
  }
  if (made.length > 0) {
    const rows = made.map((one) => [
      ...stored(one),
      one.row.run.id,
      one.row.ref.era,
      one.row.run.target,
      jsonOrNull(goalOf(one.row.run).goal),
      one.row.run.startedAt,
    ]);
    ask(INSERT_RUNS, columns(rows, 24));
    const heads = made.map(({ row: { ref, version, head, mac } }) => [
      ref.key,
      version,
      head.seq,
      head.hash,
      mac,
    ]);
    ask(INSERT_HEADS, columns(heads, 5));
  }
  if (writes.texts.length > 0) {
    const texts = writes.texts.map(({ ref, n, kind, text: stored }) => [ref.era, ref.key, n, kind, stored]);
    ask(INSERT_TEXTS, columns(texts, 5));
  }
  if (writes.itemsAnew.size > 0) {
    const anew = [...writes.itemsAnew.values()].map(({ ref, n }) => [ref.era, ref.key, n]);
    ask(DELETE_ITEMS, columns(anew, 3));
  }
  for (const { ref, since } of writes.rests) {
    ask('UPDATE runs SET quiet_since = $2 WHERE key = $1', [ref.key, since]);
  }
}

/** What both statements write of a run, in their order. */
function stored({ row: { ref, run, lastText }, state }: RunWrite): readonly unknown[] {
  return [ref.key, run.workflowHash, run.workflow.id, ...changing(run), lastText, state];
}

/** What of a run's row may change with every write, in the order of the statements. */
function changing(run: Run): readonly unknown[] {
  const { claimPlace, gateDue, targetKey, workspace } = placesOf(run);
  return [
    run.overrides?.length ?? null,
    run.status,
    JSON.stringify(run.phase),
    run.holder,
    run.epoch,
    priorityOf(run),
    JSON.stringify(capabilitiesOf(run)),
    run.updatedAt,
    claimPlace,
    gateDue,
    targetKey,
    workspace,
    goesOn(run),
    run.target,
  ];
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function writeBeside(ask: Ask, writes: Writes, seal: Seal): void {
  const leases = [...writes.leases.values()];
  const dropped = leases.flatMap((change) =>
    'drop' in change ? [[change.drop.run, change.drop.item ?? '']] : [],
  );
  if (dropped.length > 0) ask(DROP_LEASES, columns(dropped, 2));
  const put = leases.flatMap((change) => {
    if (!('put' in change)) return [];
    const { run, item, agent, epoch, expiresAt, jti, previousJti } = change.put;
    return [[run, item ?? '', agent, epoch, expiresAt, jti, previousJti, leaseMac(seal, change.put)]];
  });
  if (put.length > 0) ask(PUT_LEASES, columns(put, 8));
  if (writes.callsBegun.length > 0) beginCalls(ask, writes.callsBegun);
  for (const [calls, sql] of [
    [writes.callsDropped, DROP_CALLS],
    [writes.callsEnding, END_CALLS],
  ] as const) {
    if (calls.length > 0)
      ask(
        sql,
        columns(
          calls.map(({ run, id }) => [run, id]),
          2,
        ),
      );
  }
  if (writes.kept.size > 0) {
    const kept = [...writes.kept.values()].map((one) => [one.kind, one.key, one.text, keptMac(seal, one)]);
    ask(PUT_KEPT, columns(kept, 4));
  }
}

function beginCalls(ask: Ask, calls: readonly CallRecord[]): void {
  const under = calls.filter(({ id }) => id !== '');
  if (under.length > 0) {
    const rows = under.map(({ run, id, item, tool, process, deadline, ending }) => [
      run,
      id,
      item ?? '',
      tool,
      process,
      deadline,
      ending,
    ]);
    ask(BEGIN_CALLS, columns(rows, 7));
  }
  const counts = new Map<string, [run: string, item: string, count: number]>();
  for (const { run, item } of calls) {
    const counted = counts.get(`${run}\0${item ?? ''}`) ?? [run, item ?? '', 0];
    counted[2] += 1;
    counts.set(`${run}\0${item ?? ''}`, counted);
  }
  ask(COUNT_CALLS, columns([...counts.values()], 3));
}

const INSERT_WORKFLOWS = `INSERT INTO workflows (hash, data) SELECT * FROM unnest($1::text[], $2::text[])
  ON CONFLICT (hash) DO NOTHING`;
/** Compare and swap: only what is still as it was read, and all of it, or the transaction ends here by a division by zero. */
const UPDATE_HEADS = `WITH moved AS (
    UPDATE run_heads h SET version = u.version, seq = u.seq, hash = u.hash, mac = u.mac
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
      AS u(run, was_version, was_seq, version, seq, hash, mac)
    WHERE h.run = u.run AND h.version = u.was_version AND h.seq = u.was_seq RETURNING 1)
  SELECT 1 / (count(*) = $8::integer)::integer FROM moved`;
const INSERT_HEADS = `INSERT INTO run_heads (run, version, seq, hash, mac)
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])`;
const CHANGING = `$1::bigint[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::bigint[],
  $9::double precision[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::boolean[],
  $17::text[], $18::integer[], $19::text[]`;
const NAMED = `key, workflow_hash, workflow_id, overridden, status, phase, holder, epoch, priority, capabilities,
  updated_at, claim_place, gate_due, target_key, workspace, goes_on, target, last_text, state`;
/** A run stays where it is among the quiet ones: nobody looks too late, and most transitions change no index. */
const UPDATE_RUNS = `UPDATE runs r SET workflow_hash = u.workflow_hash, workflow_id = u.workflow_id,
    overridden = u.overridden, status = u.status, phase = u.phase, holder = u.holder, epoch = u.epoch,
    priority = u.priority, capabilities = u.capabilities, updated_at = u.updated_at, claim_place = u.claim_place,
    gate_due = u.gate_due, target_key = u.target_key, workspace = u.workspace, target = u.target,
    quiet_since = CASE WHEN u.goes_on THEN coalesce(r.quiet_since, u.updated_at) END,
    last_text = u.last_text, state = u.state
  FROM unnest(${CHANGING}) AS u(${NAMED}) WHERE r.key = u.key`;
const INSERT_RUNS = `INSERT INTO runs (key, workflow_hash, workflow_id, overridden, status, phase, holder, epoch, priority,
    capabilities, updated_at, claim_place, gate_due, target_key, workspace, quiet_since, target, last_text, state, id, era,
    goal, started_at)
  SELECT key, workflow_hash, workflow_id, overridden, status, phase, holder, epoch, priority, capabilities, updated_at,
    claim_place, gate_due, target_key, workspace, CASE WHEN goes_on THEN updated_at END, target, last_text, state, id, era,
    goal, started_at
  FROM unnest(${CHANGING}, $20::text[], $21::integer[], $22::text[], $23::text[], $24::text[])
    AS u(${NAMED}, id, era, first_target, goal, started_at)`;
/** Of steps of items, those before all of them. */
const DELETE_ITEMS = `DELETE FROM texts t USING unnest($1::integer[], $2::bigint[], $3::integer[]) AS u(era, run, n)
  WHERE t.era = u.era AND t.run = u.run AND t.n < u.n AND t.kind IN (3, 4)`;
/** Texts of runs, as lists of their columns. */
export const INSERT_TEXTS = `INSERT INTO texts (era, run, n, kind, text)
  SELECT * FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::smallint[], $5::text[])`;
const DROP_LEASES = `DELETE FROM leases l USING unnest($1::text[], $2::text[]) AS u(run, item)
  WHERE l.run = u.run AND l.item = u.item`;
const PUT_LEASES = `INSERT INTO leases (run, item, agent, epoch, expires_at, jti, previous_jti, mac)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[])
  ON CONFLICT (run, item) DO UPDATE SET agent = excluded.agent, epoch = excluded.epoch,
    expires_at = excluded.expires_at, jti = excluded.jti, previous_jti = excluded.previous_jti, mac = excluded.mac`;
const BEGIN_CALLS = `INSERT INTO calls (run, id, item, tool, process, deadline, ending)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])`;
const COUNT_CALLS = `INSERT INTO calls_begun (run, item, count)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
  ON CONFLICT (run, item) DO UPDATE SET count = calls_begun.count + excluded.count`;
const DROP_CALLS = `DELETE FROM calls c USING unnest($1::text[], $2::text[]) AS u(run, id)
  WHERE c.run = u.run AND c.id = u.id`;
const END_CALLS = `UPDATE calls c SET ending = true FROM unnest($1::text[], $2::text[]) AS u(run, id)
  WHERE c.run = u.run AND c.id = u.id`;
const PUT_KEPT = `INSERT INTO kept (kind, key, data, mac) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
  ON CONFLICT (kind, key) DO UPDATE SET data = excluded.data, mac = excluded.mac`;

import {
  type HeadSum,
  headIsGenuine,
  moveHead,
  type SignedHead,
  signHead,
  sumFrom,
  sumText,
  type UnsignedHead,
} from '@phasegate/audit';
import { PhasegateError } from '@phasegate/core';
import type { ChainHead, Seal, SealedRecord } from '@phasegate/core/ports';
import type { Writes } from './batch.ts';
import type { Query } from './database.ts';
import { PROJECT_ERA } from './partitions.ts';
import { bytes, columns, integer, type Row, text, textOrNull } from './rows.ts';
import type { RunRef } from './runReader.ts';

/** What is needed to write records. */
export interface ChainParts {
  readonly seal: Seal;
  /** Where all who listen are told. */
  readonly channel: string;
  /** Of the database, in milliseconds. */
  clock(told: number): void;
}

/** Sends a statement whose answer is waited for later. */
export type Ask = (text: string, values?: readonly unknown[]) => void;

/** The key of the project's own chain. */
export const PROJECT = 0;

/**
 * Writes the records of a batch and signs the head over all of them. The row of the head is locked from here to the
 * commit: so records have places in the order of the commits, and a reader who has seen one has seen all before it.
 * Gives by what it is known later.
 */
export async function writeChains(
  { query, ask }: { readonly query: Query; readonly ask: Ask },
  writes: Writes,
  parts: ChainParts,
): Promise<Mark> {
  const { seal } = parts;
  const row = (await query(LOCK_HEAD)).rows[0] ?? {};
  parts.clock(Number(row.clock));
  const before = requireHead(seal, row);
  const { records, project, place } = placed(seal, writes, {
    project: before.project,
    place: integer(row, 'place'),
  });
  const { sum, runs } = moved(seal, writes, before);
  if (records.length > 0) ask(INSERT_AUDIT, columns(records, 10));
  const signed = signHead(seal, { project, sum, runs, time: text(row, 'now') });
  const { time, signature } = signed;
  genuine.set(seal, wholeOf(signed));
  const sums = [sumText(sum.plain), sumText(sum.weighted)];
  ask(WRITE_HEAD, [place, project.seq, project.hash, ...sums, runs, time, signature, parts.channel]);
  return { transaction: text(row, 'transaction'), ...proofOf(records), server: null };
}

/** By what it can be asked later whether a transaction was committed. */
export interface Mark {
  readonly transaction: string;
  /**
   * Where its last record stands, and its hash. The number alone is no proof: after a crash the database gives a number
   * anew of which nothing had come to the disk, and then tells what became of somebody else's transaction.
   */
  readonly proof: readonly [era: unknown, run: unknown, seq: unknown, hash: unknown] | null;
  /** Where there is no record: when the server was started, as it gives no number anew while it runs. */
  readonly server: string | null;
}

function proofOf(records: readonly (readonly unknown[])[]): Pick<Mark, 'proof'> {
  const last = records.at(-1);
  return { proof: last === undefined ? null : [last[0], last[2], last[3], last[9]] };
}

/** The rows of all records, each at its place. */
function placed(
  seal: Seal,
  { chains }: Writes,
  { project, place }: { project: ChainHead; place: number },
): {
  readonly records: readonly (readonly unknown[])[];
  readonly project: ChainHead;
  readonly place: number;
} {
  const records: (readonly unknown[])[] = [];
  const add = ({ key, era }: RunRef, record: SealedRecord, data: string) => {
    place += 1;
    const { seq, time, principal, event, prev, hash } = record;
    records.push([era, place, key, seq, time, principal, event, data, bytes(prev), bytes(hash)]);
  };
  for (const chain of chains) {
    if (chain.ref === null) {
      for (const record of seal.chain(null, project, chain.drafts)) {
        add({ key: PROJECT, era: PROJECT_ERA }, record, record.dataText);
        project = { seq: record.seq, hash: record.hash };
      }
      continue;
    }
    const isNew = chain.ref.key === 0;
    // The key of a run is the place of its first record, which nobody else has; one without a record has one too.
    if (isNew) chain.ref.key = place + 1;
    if (isNew && chain.records.length === 0) place += 1;
    for (const [index, record] of chain.records.entries()) {
      add(chain.ref, record, chain.stored[index] ?? record.dataText);
    }
  }
  return { records, project, place };
}

/** The sum over the heads of all runs, now that these have moved. */
function moved(
  seal: Seal,
  writes: Writes,
  before: Pick<UnsignedHead, 'sum' | 'runs'>,
): { readonly sum: HeadSum; readonly runs: number } {
  let { sum, runs } = before;
  for (const { row, was } of writes.runs.values()) {
    const [from, to] = [was?.head ?? { seq: 0, hash: '' }, row.head];
    if (from.seq === to.seq) continue;
    sum = moveHead(sum, seal, { runId: row.run.id, from, to });
    if (from.seq === 0) runs += 1;
  }
  return { sum, runs };
}

/** Throws `audit_broken` when the head is forged or gone: signing on would hide that. */
export function requireHead(seal: Seal, row: Row): Pick<SignedHead, 'project' | 'sum' | 'runs'> {
  const head = signedHead(row);
  if (head === undefined) {
    if (integer(row, 'place') === 0 && row.one === true) return FIRST;
    throw broken('it is missing');
  }
  if (genuine.get(seal) !== wholeOf(head) && !headIsGenuine(seal, head)) {
    throw broken(
      'its signature is not the project’s: it was changed from outside, or this node has other keys',
    );
  }
  return head;
}

/** What was signed last with a seal, whose keys never change: the same to the last letter is genuine again. */
const genuine = new WeakMap<Seal, string>();

function wholeOf({ project, sum, runs, time, signature }: SignedHead): string {
  return JSON.stringify([project, sumText(sum.plain), sumText(sum.weighted), runs, time, signature]);
}

const FIRST = { project: { seq: 0, hash: '' }, sum: { plain: 0n, weighted: 0n }, runs: 0 };

/** The head from its row; undefined where nothing was signed yet. */
export function signedHead(row: Row): SignedHead | undefined {
  const signature = textOrNull(row, 'signature');
  if (signature === null) return undefined;
  return {
    project: { seq: integer(row, 'project_seq'), hash: text(row, 'project_hash') },
    sum: { plain: sumFrom(text(row, 'sum')), weighted: sumFrom(text(row, 'weighted')) },
    runs: integer(row, 'runs'),
    time: text(row, 'time'),
    signature,
  };
}

function broken(what: string): PhasegateError {
  return new PhasegateError('audit_broken', `the signed head of the audit cannot be continued: ${what}`, {
    hint: 'give every node the same keys; `phasegate audit verify` says what was changed',
  });
}

const LOCK_HEAD = `SELECT *, pg_current_xact_id()::text AS transaction,
    extract(epoch FROM clock_timestamp()) * 1000 AS clock,
    to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now
  FROM heads FOR UPDATE`;
const WRITE_HEAD = `UPDATE heads SET place = $1::bigint, project_seq = $2, project_hash = $3, sum = $4, weighted = $5, runs = $6,
  time = $7, signature = $8 RETURNING pg_notify($9, ($1::bigint)::text)`;
/** Records, as lists of their columns. */
export const INSERT_AUDIT = `INSERT INTO audit (era, place, run, seq, time, principal, event, data, prev, hash)
  SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::bytea[], $10::bytea[])`;

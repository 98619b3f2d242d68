import { nameOfLease, parseWorkflow, sameMac, sealStored } from '@phasegate/audit';
import {
  type AuditKnowledge,
  type AuditRow,
  type AuditSource,
  type KeyedRow,
  type StoredRecord,
  verifyAudit,
} from '@phasegate/audit/verify';
import { type Json, own, type Workflow } from '@phasegate/core';
import type { AuditReport, Seal, VerifyOptions } from '@phasegate/core/ports';
import { storedStub } from './archived.ts';
import { auditRecord, dataOf, feedParts, namelessChain, wholeData } from './audit.ts';
import { PROJECT, signedHead } from './chains.ts';
import { type Database, PATIENTLY, type Query } from './database.ts';
import { summary } from './finder.ts';
import { storedKept } from './keptRows.ts';
import { storedLease } from './leaseRows.ts';
import { storedAgent, storedHuman, storedWebhook } from './project.ts';
import { hex, integer, type Row, text, textOrNull } from './rows.ts';
import { STORED, type StoredTexts, storedTexts } from './runReader.ts';
import { allTrust } from './trust.ts';

/** Verifies a database as it is at one moment, page by page: others may write meanwhile, and memory stays flat. */
export async function verifyPostgres(
  database: Database,
  verified: AuditKnowledge & { readonly seal: Seal },
  options: VerifyOptions,
): Promise<AuditReport> {
  const { seal } = verified;
  return database.reading(async (query) => {
    // One page may take long on a large database, and what is read of it may take long to verify.
    await query(PATIENTLY);
    await query("SET LOCAL idle_in_transaction_session_timeout = '5min'");
    const source = postgresSource(query, seal);
    const report = await verifyAudit({ source, seal, knowledge: verified, options });
    // In the same transaction, which sees nothing that was written since.
    if (report.ok)
      await options.reading?.({
        feedSince: feedParts({ query }).feedSince,
        humans: async () =>
          (await source.humans()).flatMap(({ human: { name, publicKey }, removed }) =>
            removed ? [] : [{ name, publicKey }],
          ),
      });
    return report;
  });
}

/** What a verification reads of a database, in one transaction. */
export function postgresSource(query: Query, seal: Seal): AuditSource {
  const workflows = new Map<string, Workflow | null>();
  /** Heads of the runs that the page of the project's chain under way tells of. */
  let noted = new Map<string, NotedRun>();

  const one = async (sql: string, values: readonly unknown[]) => (await query(sql, values)).rows[0];

  /** One page after another, each behind the last row of the one before. */
  async function* pages(
    sql: string,
    values: readonly unknown[],
    [column, start]: readonly [column: string, start: unknown],
  ): AsyncGenerator<readonly Row[]> {
    for (let after = start; ; ) {
      const { rows } = await query(sql, [...values, after]);
      if (rows.length === 0) return;
      yield rows;
      after = rows.at(-1)?.[column];
    }
  }

  async function seqOf(run: string): Promise<number | undefined> {
    const known = noted.get(run);
    if (known !== undefined) return known.seq;
    const row = await one('SELECT h.seq FROM runs r JOIN run_heads h ON h.run = r.key WHERE r.id = $1', [
      run,
    ]);
    return row && integer(row, 'seq');
  }

  async function* records(run: string | null): AsyncGenerator<StoredRecord> {
    const [sql, values] = run === null ? [PROJECT_RECORDS, []] : [RECORDS, [run]];
    for await (const rows of pages(sql, values, ['seq', 0])) {
      const whole = await wholeData(query, rows);
      const page = rows.map((row, index) => new LateRecord(row, run, whole[index] ?? null));
      if (run === null) noted = await notedRuns(query, page);
      yield* page;
    }
    if (run === null) noted = new Map();
  }

  return {
    async *rows() {
      for await (const rows of pages(ROWS, [], ['key', -1])) {
        const stored = await storedTexts(query, rows);
        for (const [index, { id, texts }] of stored.entries())
          yield auditRow(seal, rows[index] ?? {}, { id, texts });
      }
    },
    records,
    seqOf,
    async hashAt(run, seq) {
      const known = noted.get(run)?.hashes.get(seq);
      if (known !== undefined) return known;
      const row = await one(HASH_AT, [run, seq]);
      return row && hex(row, 'hash');
    },
    async *orphans() {
      for (const row of (await query(ORPHANS)).rows) {
        const whole = await wholeData(query, [row]);
        // The run is gone, and only its first record still has its name.
        const name = own(auditRecord(row, null, whole[0] ?? null).data, 'id');
        yield typeof name === 'string' ? name : namelessChain(integer(row, 'run'));
      }
    },
    async head() {
      const row = await one('SELECT * FROM heads', []);
      return row && signedHead(row);
    },
    async workflow(hash) {
      const known = workflows.get(hash);
      if (known !== undefined) return known;
      const row = await one('SELECT data FROM workflows WHERE hash = $1', [hash]);
      const found = row === undefined ? null : parseWorkflow(text(row, 'data'), hash);
      if (workflows.size >= MOST_WORKFLOWS) workflows.clear();
      workflows.set(hash, found);
      return found;
    },
    humans: async () =>
      (await query('SELECT * FROM humans ORDER BY name')).rows.map((row) => storedHuman(seal, row)),
    agents: async () =>
      (await query('SELECT * FROM agents ORDER BY name')).rows.map((row) => storedAgent(seal, row)),
    acceptances: () => allTrust(query, seal),
    async *unsealed() {
      for (const row of (await query('SELECT * FROM leases ORDER BY run, item')).rows) {
        const { lease, sealed } = storedLease(seal, row);
        if (!sealed) yield nameOfLease(lease);
      }
      for (const row of (await query('SELECT * FROM webhooks ORDER BY number')).rows) {
        if (storedWebhook(seal, row) === null) yield `webhook \`${text(row, 'id')}\``;
      }
      for (const row of (await query('SELECT * FROM kept ORDER BY kind, key')).rows) {
        if (storedKept(seal, row) === null) yield `${text(row, 'kind')} \`${text(row, 'key')}\``;
      }
    },
    async *archived() {
      for await (const rows of pages(STUBS, [], ['key', -1])) yield* rows.map((row) => storedStub(seal, row));
    },
    async stubOf(run) {
      if (noted.has(run)) return undefined;
      const row = await one('SELECT * FROM archived WHERE run = $1', [run]);
      return row && storedStub(seal, row);
    },
    places: {
      newest: async () => integer((await query(NEWEST)).rows[0] ?? {}, 'place'),
      async *heads() {
        for await (const rows of pages(PLACES, [], ['place', 0])) {
          for (const row of rows) {
            const chain = integer(row, 'run');
            // One whose run is gone is found otherwise, and stands for itself here.
            const run = chain === PROJECT ? null : (textOrNull(row, 'id') ?? namelessChain(chain));
            yield { place: integer(row, 'place'), run, seq: integer(row, 'seq'), hash: hex(row, 'hash') };
          }
        }
      },
      async of(run, seq) {
        const row = await one(HASH_AT, [run, seq]);
        return row && integer(row, 'place');
      },
      async extent(run) {
        const row = (await one(EXTENT, [run])) ?? {};
        return { count: integer(row, 'count'), first: integer(row, 'first'), last: integer(row, 'last') };
      },
    },
  };
}

interface NotedRun {
  readonly seq: number;
  readonly hashes: ReadonlyMap<number, string>;
}

/** Runs that ended before a time, with their numbers; a call that is under way still has a record to come. */
export async function* keyedRows(query: Query, seal: Seal, before: string): AsyncGenerator<KeyedRow> {
  for (let after = -1; ; ) {
    const { rows } = await query(OLD_ROWS, [after, before]);
    if (rows.length === 0) return;
    const stored = await storedTexts(query, rows);
    for (const [index, { id, texts }] of stored.entries()) {
      const row = rows[index] ?? {};
      yield { key: integer(row, 'key'), row: auditRow(seal, row, { id, texts }) };
    }
    after = integer(rows.at(-1) ?? {}, 'key');
  }
}

/** What the project's chain says of runs is held against them; read for a page at a time. */
async function notedRuns(query: Query, page: readonly StoredRecord[]): Promise<Map<string, NotedRun>> {
  const told = page.flatMap(({ event, data }) => {
    const [run, seq] = [own(data, 'run'), own(data, 'seq')];
    const isNote = event === 'run_started' || event === 'run_ended';
    return isNote && typeof run === 'string' ? [{ run, seq: typeof seq === 'number' ? seq : 0 }] : [];
  });
  const found = new Map<string, { seq: number; hashes: Map<number, string> }>();
  if (told.length === 0) return found;
  const { rows } = await query(NOTED, [told.map(({ run }) => run), told.map(({ seq }) => seq)]);
  for (const row of rows) {
    const run = found.get(text(row, 'id')) ?? {
      seq: integer(row, 'newest'),
      hashes: new Map<number, string>(),
    };
    if (row.hash !== null) run.hashes.set(integer(row, 'seq'), hex(row, 'hash'));
    found.set(text(row, 'id'), run);
  }
  return found;
}

function auditRow(
  seal: Seal,
  row: Row,
  { id, texts }: { readonly id: string; readonly texts: StoredTexts },
): AuditRow {
  const { run, mac, head } = texts;
  return {
    id,
    workflowHash: texts.workflowHash,
    head,
    sealed: run !== null && sameMac(mac, sealStored(seal, { runId: id, ...texts })),
    // The head that is signed goes with every commit.
    headed: head,
    run,
    columns: columnsOf(row),
  };
}

function columnsOf(row: Row): AuditRow['columns'] {
  try {
    const [claimPlace, gateDue] = [textOrNull(row, 'claim_place'), textOrNull(row, 'gate_due')];
    const [targetKey, workspace] = [textOrNull(row, 'target_key'), textOrNull(row, 'workspace')];
    const places = { claimPlace, gateDue, targetKey, workspace };
    return { ...summary(row), workflowHash: text(row, 'workflow_hash'), ...places };
  } catch {
    // Columns that make no sense equal no run, which is what is found about them.
    return {};
  }
}

/** Parses its data when it is asked for. */
class LateRecord implements StoredRecord {
  readonly place: number;
  readonly seq: number;
  readonly run: string | null;
  readonly time: string;
  readonly principal: string;
  readonly event: string;
  readonly prev: string;
  readonly hash: string;
  readonly #whole: string | null;

  constructor(row: Row, run: string | null, whole: string | null) {
    this.place = integer(row, 'place');
    this.seq = integer(row, 'seq');
    this.run = run;
    this.time = text(row, 'time');
    this.principal = text(row, 'principal');
    this.event = text(row, 'event');
    this.prev = hex(row, 'prev');
    this.hash = hex(row, 'hash');
    this.#whole = whole;
  }

  /** A text that cannot be put together was none's. */
  get dataText(): string {
    return this.#whole ?? '';
  }

  get data(): Json {
    return dataOf(this.#whole);
  }
}

/** Memory stays flat however many workflows there are. */
const MOST_WORKFLOWS = 200;

const ROW = `SELECT ${STORED}, r.workflow_id, r.target, r.goal, r.overridden, r.status, r.phase, r.holder, r.epoch, r.priority,
    r.capabilities, r.started_at, r.updated_at, r.claim_place, r.gate_due, r.target_key, r.workspace
  FROM runs r LEFT JOIN run_heads h ON h.run = r.key WHERE r.key > $1`;
const ROWS = `${ROW} ORDER BY r.key LIMIT 100`;
const OLD_ROWS = `${ROW} AND r.status IN ('completed', 'stopped') AND r.updated_at < $2
  AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = r.id) ORDER BY r.key LIMIT 100`;
const RECORDS = `SELECT a.* FROM runs r JOIN audit a ON a.era = r.era AND a.run = r.key
  WHERE r.id = $1 AND a.seq > $2 ORDER BY a.seq LIMIT 500`;
const PROJECT_RECORDS = 'SELECT * FROM audit WHERE era = 0 AND run = 0 AND seq > $1 ORDER BY seq LIMIT 500';
const HASH_AT = `SELECT a.place, a.hash FROM runs r JOIN audit a ON a.era = r.era AND a.run = r.key
  WHERE r.id = $1 AND a.seq = $2`;
const NOTED = `SELECT r.id, h.seq AS newest, u.seq, a.hash FROM unnest($1::text[], $2::bigint[]) AS u(id, seq)
  JOIN runs r ON r.id = u.id JOIN run_heads h ON h.run = r.key
  LEFT JOIN audit a ON a.era = r.era AND a.run = r.key AND a.seq = u.seq`;
const EXTENT = `SELECT count(*) AS count, min(a.seq) AS first, max(a.seq) AS last
  FROM runs r JOIN audit a ON a.era = r.era AND a.run = r.key WHERE r.id = $1`;
const NEWEST = 'SELECT max(place) AS place FROM audit';
const PLACES = `SELECT a.place, a.run, r.id, a.seq, a.hash FROM audit a LEFT JOIN runs r ON r.key = a.run
  WHERE a.place > $1 ORDER BY a.place LIMIT 1000`;
const STUBS = 'SELECT * FROM archived WHERE key > $1 ORDER BY key LIMIT 500';
// INVARIANT: every record is in the chain of a run, in the project's, or here: what is in none would be verified by nobody.
const ORPHANS = `SELECT DISTINCT ON (a.run) a.* FROM audit a
  WHERE (a.run <> 0 OR a.era <> 0) AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.key = a.run AND r.era = a.era)
  ORDER BY a.run, a.seq`;

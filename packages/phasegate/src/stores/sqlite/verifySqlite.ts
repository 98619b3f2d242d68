import { DatabaseSync } from 'node:sqlite';
import { createSeenParts, nameOfLease, parseWorkflow, sameMac, sealStored } from '@phasegate/audit';
import {
  type AuditKnowledge,
  type AuditRow,
  type PromptAuditSource,
  type Share,
  type StoredRecord,
  verifyAudit,
} from '@phasegate/audit/verify';
import { type Json, own, type Workflow } from '@phasegate/core';
import type { AuditReport, Seal, VerifyOptions } from '../../runtime/ports.ts';
import { namedHumans } from '../namedHumans.ts';
import { storedAgent } from './agentTable.ts';
import { storedStub } from './archiveTable.ts';
import { dataOf, namelessChain, openAuditTable, PROJECT, timeOf } from './auditTable.ts';
import { storeFault } from './faults.ts';
import { signedHead } from './headTable.ts';
import { storedKept } from './keptParts.ts';
import { storedLease } from './leaseTable.ts';
import { storedHuman } from './peopleTable.ts';
import { readStored } from './runTexts.ts';
import { hex, inHex, integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';
import { GOAL_COLUMN, OVERRIDDEN_COLUMN, summary } from './summary.ts';
import { openTextTable, type TextTable } from './textTable.ts';
import { allTrust } from './trustTable.ts';
import { type Crew, startCrew, type VerifyThreads } from './verifyThreads.ts';
import { storedWebhook } from './webhookTable.ts';

/** Verifies a database on a connection of its own, in one read transaction: others may write meanwhile. */
export async function verifySqlite(
  verified: AuditKnowledge & {
    readonly file: string;
    readonly seal: Seal;
    readonly threads?: () => Promise<VerifyThreads>;
  },
  options: VerifyOptions,
): Promise<AuditReport> {
  const { file, seal } = verified;
  let database: DatabaseSync | undefined;
  let crew: Crew | undefined;
  try {
    database = openToRead(file);
    const source = sqliteSource(database, seal);
    const work = { source, seal, knowledge: verified, options };
    const threads = await verified.threads?.();
    if (threads === undefined || threads.most < 2 || source.places.newest() < threads.from) {
      database.exec('BEGIN');
      return await thenRead(await verifyAudit(work), database);
    }
    crew = await startCrew(threads, file);
    crew.begin(() => beginReading(database as DatabaseSync));
    const shares = sharesOf(database);
    const report = await verifyAudit({
      ...work,
      shared: (since) => (crew as Crew).verify({ shares, since }, options.onProgress),
    });
    return await thenRead(report, database);
  } catch (error) {
    throw storeFault(error, file);
  } finally {
    await crew?.end();
    database?.close();
  }

  /** In the same transaction, which sees nothing that was written since. */
  async function thenRead(report: AuditReport, read: DatabaseSync): Promise<AuditReport> {
    if (!report.ok || options.reading === undefined) return report;
    const audit = openAuditTable(read, openTextTable(read));
    await options.reading({
      feedSince: async (query) => audit.since(query),
      humans: async () => namedHumans(await sqliteSource(read, seal).humans()),
    });
    return report;
  }
}

/** Opens a connection that verifies. */
export function openToRead(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('PRAGMA busy_timeout=5000');
  return database;
}

/** From here on the connection sees one moment: a transaction has its view from its first reading. */
export function beginReading(database: DatabaseSync): void {
  database.exec('BEGIN');
  database.prepare('SELECT count(*) FROM sqlite_schema').get();
}

/** Cuts the runs into shares, in their order. */
function sharesOf(database: DatabaseSync): readonly Share[] {
  const shares: Share[] = [];
  let first = LOWEST;
  const lasts = database.prepare(LAST_OF_SHARES);
  lasts.setReadBigInts(true);
  for (const { last } of lasts.iterate(RUNS_PER_SHARE)) {
    if (typeof last !== 'bigint' || last === HIGHEST) break;
    shares.push({ first, last });
    first = last + 1n;
  }
  return [...shares, { first, last: HIGHEST }];
}

const [LOWEST, HIGHEST] = [-(2n ** 63n), 2n ** 63n - 1n];

const RUNS_PER_SHARE = 64;
const LAST_OF_SHARES = `SELECT place AS last FROM
  (SELECT rowid AS place, row_number() OVER (ORDER BY rowid) AS number FROM runs) WHERE number % ? = 0`;

/** What a verification reads of a database, on its own connection and in one transaction. */
export function sqliteSource(database: DatabaseSync, seal: Seal): PromptAuditSource {
  const rows = lazily(database, `${ROWS} ORDER BY runs.key`);
  const rowsOfShare = lazily(database, `${ROWS} WHERE runs.key >= ? AND runs.key <= ? ORDER BY runs.key`);
  const newest = lazily(database, `SELECT ${PLACE} AS place FROM (SELECT max(rowid) AS rowid FROM audit)`);
  const placeOf = lazily(database, `SELECT ${PLACE} AS place FROM audit WHERE run = ? AND seq = ?`);
  const extent = lazily(
    database,
    'SELECT count(*) AS count, min(seq) AS first, max(seq) AS last FROM audit WHERE run = ?',
  );
  const seen = createSeenParts();
  const texts = openTextTable(database, seen);
  const keyOf = lazily(database, 'SELECT key FROM runs WHERE id = ?');
  const seqOf = lazily(
    database,
    'SELECT seq FROM run_heads JOIN runs ON runs.key = run_heads.run WHERE runs.id = ?',
  );
  const stubOf = lazily(database, 'SELECT * FROM archived WHERE run = ?');
  const hashAt = lazily(database, `SELECT ${inHex('hash')} FROM audit WHERE run = ? AND seq = ?`);
  const records = lazily(database, RECORDS);
  const workflow = lazily(database, 'SELECT data FROM workflows WHERE hash = ?');
  // What is read in one transaction cannot change, and many runs have the same.
  const workflows = new Map<string, Workflow | null>();

  function chainOf(run: string | null): number {
    if (run === null) return PROJECT;
    const row = keyOf().get(run);
    return row === undefined ? NO_CHAIN : integer(row, 'key');
  }

  return {
    *rows(share) {
      const found = share === undefined ? rows().iterate() : rowsOfShare().iterate(share.first, share.last);
      for (const row of found) {
        seen.clear();
        yield auditRow(row, seal, texts);
      }
    },
    *records(run) {
      for (const row of records().iterate(chainOf(run))) yield new LateRecord(row, run, texts);
    },
    seqOf(run) {
      const row = seqOf().get(run);
      return row && integer(row, 'seq');
    },
    hashAt(run, seq) {
      const row = hashAt().get(chainOf(run), seq);
      return row && text(row, 'hash');
    },
    *orphans() {
      const chains = database.prepare(ORPHANS);
      // A number that somebody else gave may be none of JavaScript's.
      chains.setReadBigInts(true);
      for (const row of chains.iterate()) {
        const key = Number(row.run);
        if (!Number.isSafeInteger(key)) {
          yield namelessChain(row.run as bigint);
          continue;
        }
        const [first] = records().all(key);
        // The run is gone, and only its first record still has its name.
        const name = first && own(dataOf(texts.whole(text(first, 'data'))), 'id');
        yield typeof name === 'string' ? name : namelessChain(key);
      }
    },
    head() {
      const row = database.prepare('SELECT * FROM heads').get();
      return row && signedHead(row);
    },
    workflow(hash) {
      const known = workflows.get(hash);
      if (known !== undefined) return known;
      const row = workflow().get(hash);
      const found = row === undefined ? null : parseWorkflow(text(row, 'data'), hash);
      if (workflows.size >= MOST_WORKFLOWS) workflows.clear();
      workflows.set(hash, found);
      return found;
    },
    *archived() {
      for (const row of database.prepare('SELECT * FROM archived ORDER BY key').iterate()) {
        yield storedStub(seal, row);
      }
    },
    stubOf(run) {
      const row = stubOf().get(run);
      return row && storedStub(seal, row);
    },
    places: {
      newest: () => integer(newest().get() ?? {}, 'place'),
      *heads() {
        for (const row of database.prepare(HEADS).iterate()) {
          const chain = integer(row, 'run');
          // One whose run is gone is found otherwise, and stands for itself here.
          const run = chain === PROJECT ? null : (textOrNull(row, 'id') ?? namelessChain(chain));
          yield { place: integer(row, 'place'), run, seq: integer(row, 'seq'), hash: hex(row, 'hash') };
        }
      },
      of(run, seq) {
        const row = placeOf().get(chainOf(run), seq);
        return row && integer(row, 'place');
      },
      extent(run) {
        const row = extent().get(chainOf(run)) ?? {};
        return { count: integer(row, 'count'), first: integer(row, 'first'), last: integer(row, 'last') };
      },
    },
    humans: () =>
      database
        .prepare('SELECT * FROM humans ORDER BY name')
        .all()
        .map((row) => storedHuman(seal, row)),
    agents: () =>
      database
        .prepare('SELECT * FROM agents ORDER BY name')
        .all()
        .map((row) => storedAgent(seal, row)),
    acceptances: () => allTrust(database, seal),
    *unsealed() {
      for (const row of database.prepare('SELECT * FROM leases ORDER BY run, item').iterate()) {
        const { lease, sealed } = storedLease(seal, row);
        if (!sealed) yield nameOfLease(lease);
      }
      for (const row of database.prepare('SELECT * FROM webhooks ORDER BY rowid').iterate()) {
        if (storedWebhook(seal, row) === null) yield `webhook \`${text(row, 'id')}\``;
      }
      for (const row of database.prepare('SELECT * FROM kept ORDER BY kind, key').iterate()) {
        if (storedKept(seal, row) === null) yield `${text(row, 'kind')} \`${text(row, 'key')}\``;
      }
    },
  };
}

/** No run has it. */
const NO_CHAIN = -1;

const ROWS = `SELECT *, ${GOAL_COLUMN}, ${OVERRIDDEN_COLUMN}, (SELECT place FROM workspaces WHERE workspaces.run = runs.key) AS workspace
  FROM runs LEFT JOIN run_heads ON run_heads.run = runs.key`;

/** The number of a record. One that somebody else gave may be none of JavaScript's, and is as good as the nearest. */
const PLACE = 'max(-1, min(rowid, 9007199254740991))';

const RECORDS = `SELECT ${PLACE} AS place, run, seq, time, principal, event, data, ${inHex('prev')}, ${inHex('hash')}
  FROM audit WHERE run = ? ORDER BY seq`;

const HEADS = `SELECT ${PLACE.replaceAll('rowid', 'audit.rowid')} AS place,
    max(-9007199254740991, min(audit.run, 9007199254740991)) AS run, runs.id AS id, audit.seq AS seq, audit.hash AS hash
  FROM audit LEFT JOIN runs ON runs.key = audit.run ORDER BY audit.rowid`;

/** Memory stays flat however many workflows there are. */
const MOST_WORKFLOWS = 200;

/** Parses its data when it is first asked for. */
class LateRecord implements StoredRecord {
  readonly place: number;
  readonly seq: number;
  readonly run: string | null;
  readonly time: string;
  readonly principal: string;
  readonly event: string;
  readonly #whole: string | null;
  #data: Json | undefined;
  readonly prev: string;
  readonly hash: string;

  constructor(row: SqlRow, run: string | null, texts: Pick<TextTable, 'whole'>) {
    this.place = integer(row, 'place');
    this.seq = integer(row, 'seq');
    this.run = run;
    this.time = timeOf(row, 'time');
    this.principal = text(row, 'principal');
    this.event = text(row, 'event');
    this.#whole = texts.whole(text(row, 'data'));
    this.prev = text(row, 'prev');
    this.hash = text(row, 'hash');
  }

  /** A text that cannot be put together was none's. */
  get dataText(): string {
    return this.#whole ?? '';
  }

  get data(): Json {
    this.#data ??= dataOf(this.#whole);
    return this.#data;
  }
}

/**
 * Goes from one run's records to the next by the index, rather than over all of them. INVARIANT: every record is in the
 * chain of a run, in the project's, or here: what is in none would be read by the feed and verified by nobody.
 */
const ORPHANS = `
  WITH RECURSIVE chains(run) AS (
    SELECT min(run) FROM audit
    UNION ALL
    SELECT (SELECT min(run) FROM audit WHERE run > chains.run) FROM chains WHERE chains.run IS NOT NULL
  )
  SELECT run FROM chains
  WHERE run IS NOT NULL AND run <> ${PROJECT} AND run NOT IN (SELECT key FROM runs)`;

function auditRow(row: SqlRow, seal: Seal, texts: TextTable): AuditRow {
  const id = text(row, 'id');
  const { run, mac, head, ...stored } = readStored(row, texts);
  return {
    id,
    workflowHash: text(row, 'workflow_hash'),
    head,
    sealed: run !== null && sameMac(mac, sealStored(seal, { runId: id, head, ...stored })),
    headed: { seq: integer(row, 'headed_seq'), hash: hex(row, 'headed_hash') },
    run,
    columns: columnsOf(row),
  };
}

function columnsOf(row: SqlRow): AuditRow['columns'] {
  try {
    return {
      ...summary(row),
      workflowHash: text(row, 'workflow_hash'),
      claimPlace: textOrNull(row, 'claim_place'),
      gateDue: textOrNull(row, 'gate_due'),
      targetKey: textOrNull(row, 'target_key'),
      workspace: textOrNull(row, 'workspace'),
    };
  } catch {
    // Columns that make no sense equal no run, which is what is found about them.
    return {};
  }
}

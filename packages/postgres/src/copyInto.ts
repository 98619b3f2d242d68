import { type HeadSum, moveHead, type SignedHead, signHead, sumText } from '@phasegate/audit';
import type { AuditKnowledge } from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type { AuditReport, Seal } from '@phasegate/core/ports';
import { INSERT_AUDIT } from './chains.ts';
import { connectionSettings } from './connectionSettings.ts';
import { forgetCopying, wholeMark } from './copyMark.ts';
import { DATABASE_LIMITS, type Database, openDatabase, type Query } from './database.ts';
import { storeFault } from './faults.ts';
import { INSERT_TEXTS } from './flush.ts';
import { migrate } from './migrate.ts';
import { createPartitions, eraOf, PROJECT_ERA } from './partitions.ts';
import { bytes, columns, integer, type Row, text } from './rows.ts';
import { verifyPostgres } from './verifyPostgres.ts';

/** All of another store, as it is while nobody writes to it. Rows have the columns of that store. */
export interface CopySource {
  readonly records: number;
  head(): SignedHead | undefined;
  runs(): Iterable<Row>;
  audit(after: number): Iterable<Row>;
  texts(after: number): Iterable<Row>;
  table(name: (typeof SMALL)[number]['name']): readonly Row[];
}

/** What is copied, and where to. */
export interface CopyOrder extends AuditKnowledge {
  readonly url: string;
  readonly seal: Seal;
  readonly source: CopySource;
  /** Told when all of it is there and verified, before anybody can open it: from here on the runs are there. */
  readonly onWhole?: () => void;
  /** Told how many records are there by now. */
  readonly onProgress?: (records: number) => void;
}

/**
 * Copies a store into an empty database, and verifies all of it there. A copy that was cut short is resumed: what is only
 * ever added to is not copied again, all else is copied anew. Until it is whole nobody can open it as a store.
 */
export async function copyInto({
  url,
  seal,
  source,
  onWhole,
  onProgress,
  ...knowledge
}: CopyOrder): Promise<AuditReport> {
  const settings = connectionSettings(url);
  const database = openDatabase(settings, { ...DATABASE_LIMITS, statement: 120_000, idle: 600_000 });
  try {
    await migrate(database);
    await claim(database, seal);
    const runs = [...source.runs()];
    const eras = new Map(runs.map((run) => [integer(run, 'key'), eraOf(text(run, 'started_at'))]));
    await createPartitions(database).require(eras.values());
    await copyRecords({ database, source, eras, onProgress: onProgress ?? (() => undefined) });
    await writeAll(database, async (query) => {
      await query(EMPTY);
      for (const page of pagesOf(runs)) await writeRuns(query, page, eras);
      for (const table of SMALL) await writeSmall(query, table, source.table(table.name));
      await writeHead(query, { seal, source, runs });
    });
    const report = await verifyPostgres(database, { seal, ...knowledge }, {});
    if (!report.ok) return report;
    // Cut short between these, it is resumed as before, or opened by the one who knows already that the runs are here.
    await database.writing((query) => query('UPDATE copying SET mac = $1', [wholeMark(database, seal)]));
    onWhole?.();
    await forgetCopying(database);
    return report;
  } catch (error) {
    throw storeFault(error, settings.shown);
  } finally {
    await database.close();
  }
}

/** The target is empty, or it is our own unfinished copy: anything else is somebody's, and is left alone. */
async function claim(database: Database, seal: Seal): Promise<void> {
  const { shown, bare, schema } = database.settings;
  const mine = seal.mac({ runId: '\0copying', version: 0, seq: 0, hash: '', state: `${bare} ${schema}` });
  await writeAll(database, async (query) => {
    const { rows } = await query(`SELECT place, (SELECT mac FROM copying) AS mac,
        EXISTS (SELECT 1 FROM runs) OR EXISTS (SELECT 1 FROM audit) OR EXISTS (SELECT 1 FROM humans) AS used
      FROM heads FOR UPDATE`);
    const [row = {}] = rows;
    if (row.mac === mine) return;
    if (row.mac === wholeMark(database, seal)) {
      await query('UPDATE copying SET mac = $1', [mine]);
      return;
    }
    if (row.used === true || integer(row, 'place') > 0 || row.mac !== null) {
      throw new PhasegateError(
        'usage',
        `\`${shown}\` is not empty, and not an unfinished copy of this project`,
        {
          hint: 'name an empty database, or another `schema`; nothing was changed',
        },
      );
    }
    await query('INSERT INTO copying (one, mac) VALUES (true, $1)', [mine]);
  });
}

async function writeAll(database: Database, work: (query: Query) => Promise<void>): Promise<void> {
  await database.writing(async (query) => {
    await query('BEGIN');
    await work(query);
    await query('COMMIT');
  });
}

/** What is only ever added to, page by page, each page whole or not at all. */
async function copyRecords({
  database,
  source,
  eras,
  onProgress,
}: {
  readonly database: Database;
  readonly source: CopySource;
  readonly eras: ReadonlyMap<number, number>;
  readonly onProgress: (records: number) => void;
}): Promise<void> {
  const newest = async (sql: string) => integer((await database.query(sql)).rows[0] ?? {}, 'newest');
  const eraFor = (row: Row) => {
    const key = integer(row, 'run');
    return key === 0 ? PROJECT_ERA : eras.get(key);
  };
  let copied = 0;
  for (const page of pagesOf(source.audit(await newest('SELECT max(place) AS newest FROM audit')))) {
    const rows = page.map((row) => [
      requireEra(eraFor(row), row),
      ...['id', 'run', 'seq', 'time', 'principal', 'event', 'data'].map((column) => row[column]),
      bytes(text(row, 'prev')),
      bytes(text(row, 'hash')),
    ]);
    await writeAll(database, async (query) => void (await query(INSERT_AUDIT, columns(rows, 10))));
    copied += page.length;
    onProgress(copied);
  }
  for (const page of pagesOf(source.texts(await newest('SELECT max(n) AS newest FROM texts')))) {
    const rows = page.map((row) => [requireEra(eraFor(row), row), row.run, row.id, row.kind, row.text]);
    await writeAll(database, async (query) => void (await query(INSERT_TEXTS, columns(rows, 5))));
  }
}

function requireEra(era: number | undefined, row: Row): number {
  if (era !== undefined) return era;
  throw new PhasegateError('audit_broken', `there are records of run #${String(row.run)}, which is gone`);
}

function* pagesOf(rows: Iterable<Row>): Iterable<readonly Row[]> {
  let page: Row[] = [];
  for (const row of rows) {
    page.push(row);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

const PAGE = 500;

const RUN_COLUMNS = [
  ...['key:bigint', 'id:text', 'workflow_hash:text', 'workflow_id:text', 'target:text', 'goal:text'],
  ...[
    'overridden:integer',
    'status:text',
    'phase:text',
    'holder:text',
    'epoch:bigint',
    'priority:double precision',
  ],
  ...['capabilities:text', 'started_at:text', 'updated_at:text', 'claim_place:text', 'gate_due:text'],
  ...['target_key:text', 'workspace:text', 'quiet_since:text', 'last_text:integer', 'state:text'],
];
const HEAD_COLUMNS = ['key:bigint', 'version:bigint', 'seq:bigint', 'hash:text', 'mac:text'];

async function writeRuns(
  query: Query,
  runs: readonly Row[],
  eras: ReadonlyMap<number, number>,
): Promise<void> {
  const withEra = runs.map((run) => ({ ...run, era: eras.get(integer(run, 'key')) }));
  await insert(query, 'runs', { names: [...RUN_COLUMNS, 'era:integer'], rows: withEra });
  await insert(query, 'run_heads', { names: HEAD_COLUMNS, rows: runs, as: { key: 'run' } });
}

/** The tables that have few rows, with what they are called here. */
const SMALL = [
  { name: 'workflows', names: ['hash:text', 'data:text'] },
  {
    name: 'leases',
    names: [
      ...['run:text', 'item:text', 'agent:text', 'epoch:bigint', 'expires_at:text', 'jti:text'],
      ...['previous_jti:text', 'mac:text'],
    ],
  },
  { name: 'calls_begun', names: ['run:text', 'item:text', 'count:bigint'] },
  { name: 'kept', names: ['kind:text', 'key:text', 'data:text', 'mac:text'] },
  { name: 'humans', names: ['name:text', 'public_key:text', 'data:text', 'removed_at:text', 'mac:text'] },
  { name: 'trusted', names: ['hash:text', 'workflow:text', 'data:text', 'mac:text'] },
  { name: 'agents', names: ['name:text', 'key_hash:text', 'data:text', 'removed_at:text', 'mac:text'] },
  {
    name: 'webhooks',
    names: ['id:text', 'data:text', 'mac:text', 'cursor:bigint', 'failures:integer', 'retry_at:text'],
  },
  {
    name: 'database_backups',
    names: ['id:text', 'created_at:text', 'path:text', 'workflow_run_id:text', 'size_bytes:bigint'],
    as: { workflow_run_id: 'run' },
  },
  {
    name: 'archived',
    names: [
      ...['key:bigint', 'run:text', 'seq:bigint', 'hash:text', 'first_place:bigint', 'last_place:bigint'],
      ...['file:text', 'sha256:text', 'archived_at:text', 'mac:text'],
    ],
  },
] as const satisfies readonly SmallTable[];

interface SmallTable {
  readonly name: string;
  /** Columns with their types. */
  readonly names: readonly string[];
  /** Columns that have another name here. */
  readonly as?: Readonly<Record<string, string>>;
}

async function writeSmall(query: Query, table: SmallTable, rows: readonly Row[]): Promise<void> {
  // Copies of the file itself are of no use here.
  const kept =
    table.name === 'database_backups' ? rows.filter((row) => text(row, 'id').startsWith('db-')) : rows;
  for (const page of pagesOf(kept)) await insert(query, table.name, { ...table, rows: page });
}

async function insert(
  query: Query,
  table: string,
  { names, rows, as = {} }: Omit<SmallTable, 'name'> & { readonly rows: readonly Row[] },
): Promise<void> {
  const split = names.map((name) => name.split(':') as [string, string]);
  const values = rows.map((row) => split.map(([column]) => row[column] ?? null));
  const lists = split.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
  const into = split.map(([column]) => as[column] ?? column).join(', ');
  await query(`INSERT INTO ${table} (${into}) SELECT * FROM unnest(${lists})`, columns(values, split.length));
}

/** The head over all chains, now also over those that were not part of it yet. */
async function writeHead(
  query: Query,
  { seal, source, runs }: Pick<CopyOrder, 'seal' | 'source'> & { readonly runs: readonly Row[] },
): Promise<void> {
  const before = source.head();
  if (before === undefined) return;
  let sum: HeadSum = before.sum;
  let counted = before.runs;
  for (const run of runs) {
    const from = { seq: integer(run, 'headed_seq'), hash: text(run, 'headed_hash') };
    const to = { seq: integer(run, 'seq'), hash: text(run, 'hash') };
    if (from.seq === to.seq) continue;
    sum = moveHead(sum, seal, { runId: text(run, 'id'), from, to });
    if (from.seq === 0) counted += 1;
  }
  const { project, time, signature } = signHead(seal, { ...before, sum, runs: counted });
  await query(
    `UPDATE heads SET place = coalesce((SELECT max(place) FROM audit), 0), project_seq = $1, project_hash = $2, sum = $3,
       weighted = $4, runs = $5, time = $6, signature = $7`,
    [project.seq, project.hash, sumText(sum.plain), sumText(sum.weighted), counted, time, signature],
  );
}

const EMPTY = `TRUNCATE workflows, runs, run_heads, leases, calls, calls_begun, kept, humans, trusted, agents, webhooks,
  database_backups, archived`;

import { DatabaseSync } from 'node:sqlite';
import { timeOf } from './auditTable.ts';
import { storeFault } from './faults.ts';
import { signedHead } from './headTable.ts';
import { hex, integer, type SqlRow } from './statements.ts';

/** A row of the database, with bytes as hexadecimal texts. */
export type CopiedRow = Readonly<Record<string, unknown>>;

/** All of a database as it is while nobody can write to it, to be copied into another store. */
export interface SqliteCopySource {
  readonly records: number;
  head(): ReturnType<typeof signedHead> | undefined;
  /** Runs with their heads, by key. */
  runs(): Iterable<CopiedRow>;
  /** Records of all chains behind a place. */
  audit(after: number): Iterable<CopiedRow>;
  /** Large values and steps behind a number. */
  texts(after: number): Iterable<CopiedRow>;
  /** All rows of a small table. */
  table(name: SmallTable): readonly CopiedRow[];
  close(): void;
}

/** The tables that have few rows. */
export type SmallTable =
  | 'workflows'
  | 'leases'
  | 'calls_begun'
  | 'kept'
  | 'humans'
  | 'trusted'
  | 'agents'
  | 'webhooks'
  | 'database_backups'
  | 'archived';

/** Opens a database and keeps everybody else from writing to it until it is closed. */
export function openCopySource(file: string): SqliteCopySource {
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file);
    database.exec('PRAGMA busy_timeout=2000; BEGIN IMMEDIATE');
  } catch (error) {
    throw storeFault(error, file);
  }
  const all = (sql: string) => database.prepare(sql).all().map(copied);
  function* each(sql: string, after: number): Iterable<CopiedRow> {
    for (const row of database.prepare(sql).iterate(after)) yield copied(row);
  }
  return {
    records: integer(database.prepare('SELECT count(*) AS records FROM audit').get() ?? {}, 'records'),
    head() {
      const row = database.prepare('SELECT * FROM heads').get();
      return row && signedHead(row);
    },
    runs: () => each(RUNS, -1),
    audit: (after) => each('SELECT * FROM audit WHERE id > ? ORDER BY id', after),
    texts: (after) => each('SELECT * FROM texts WHERE id > ? ORDER BY id', after),
    table: (name) => all(`SELECT * FROM ${name}${IN_ORDER.has(name) ? ' ORDER BY rowid' : ''}`),
    close() {
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

/** Those whose rows stand in the order in which they came; of some others the rows have no number. */
const IN_ORDER: ReadonlySet<SmallTable> = new Set(['trusted', 'webhooks', 'database_backups']);

const RUNS = `SELECT runs.*, run_heads.version, run_heads.seq, run_heads.hash, run_heads.mac, run_heads.headed_seq,
    run_heads.headed_hash,
    (SELECT goal FROM goals WHERE goals.run = runs.id) AS goal,
    (SELECT phases FROM overridden WHERE overridden.run = runs.id) AS overridden,
    (SELECT place FROM workspaces WHERE workspaces.run = runs.key) AS workspace,
    coalesce((SELECT max(texts.id) FROM texts WHERE texts.run = runs.key), 0) AS last_text
  FROM runs JOIN run_heads ON run_heads.run = runs.key WHERE runs.key > ? ORDER BY runs.key`;

function copied(row: SqlRow): CopiedRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      if (value instanceof Uint8Array) return [column, hex(row, column)];
      // In the audit, and nowhere else, a time may be a number.
      return [column, column === 'time' && typeof value === 'number' ? timeOf(row, column) : value];
    }),
  );
}

import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { ConnectionSettings } from './connectionSettings.ts';
import { isOfTheWay, isOutdated, storeFault, unavailable } from './faults.ts';
import { GuardedClient } from './guardedClient.ts';
import type { Row } from './rows.ts';

/** Asks one statement on a connection. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<Answered>;

/** What a statement answered. */
export interface Answered {
  readonly rows: readonly Row[];
  /** How many rows it wrote, or read. */
  readonly count: number;
}

/** The connections to a database: some that read, and one that writes, as one batch is written after another. */
export interface Database {
  readonly settings: ConnectionSettings;
  readonly limits: DatabaseLimits;
  /** One statement, in a transaction of its own. */
  readonly query: Query;
  /** Statements that see one moment. */
  reading<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** A connection for writing. One that was cut, or whose work failed, is not used again. */
  writing<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** A connection of its own, for as long as the caller likes; its statements, too, where it says so. */
  client(how?: { readonly patient: boolean }): pg.Client;
  close(): Promise<void>;
}

/** How long things may take, in milliseconds, and how many at once. */
export interface DatabaseLimits {
  readonly connect: number;
  readonly statement: number;
  /** How much later than it should have an answer may come: where the server does not even say that it is late. */
  readonly late: number;
  /** Less than a statement may take, so that it is known what was waited for. */
  readonly lock: number;
  /** A transaction in which nothing is asked for so long is ended: a node that was paused in it would keep all others waiting. */
  readonly idle: number;
  readonly readers: number;
  readonly waiting: number;
  /** How many characters one transaction writes before what else waits is left to the next; a single write may be larger. */
  readonly batch: number;
}

/** What a server can live with. */
export const DATABASE_LIMITS: DatabaseLimits = {
  connect: 5_000,
  statement: 10_000,
  late: 2_000,
  lock: 8_000,
  idle: 3_000,
  readers: 8,
  waiting: 2_000,
  batch: 8_000_000,
};

/** Sees every statement before it is asked, and may do it otherwise; for tests that fail or wait at one of them. */
export type Intercept = (query: Query, kind: 'reading' | 'writing') => Query;

/** Opens the connections when they are first needed. */
export function openDatabase(
  settings: ConnectionSettings,
  limits: DatabaseLimits = DATABASE_LIMITS,
  intercept: Intercept = (query) => query,
): Database {
  const config = clientConfig(settings, limits);
  const keyed = { ...config, Client: GuardedClient, options: `${config.options} ${BY_KEY}` };
  const pools = {
    reading: new pg.Pool({ ...keyed, max: limits.readers, idleTimeoutMillis: 30_000 }),
    // What need not wait for an answer is sent at once: each wait is a way to the server and back.
    writing: new pg.Pool({ ...keyed, pipeline: true, max: 1, idleTimeoutMillis: 0 } as pg.PoolConfig),
  };
  // An idle connection that is cut is opened anew by the next who needs it; without a listener it would end the process.
  // So would one that is cut while it is used, between two statements: the one who uses it learns of it by the next.
  for (const pool of Object.values(pools)) {
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  }
  // Each by itself: however many read, what is to be written is written.
  const asking = { reading: 0, writing: 0 };
  let closed = false;

  async function using<T>(kind: 'reading' | 'writing', work: (query: Query) => Promise<T>): Promise<T> {
    if (closed) throw unavailable(settings.shown, 'it was closed');
    // A queue without an end would only make everybody late.
    if (asking[kind] >= limits.waiting) {
      throw unavailable(settings.shown, `${asking[kind]} questions wait for it already`, {
        hint: 'try again later',
      });
    }
    asking[kind] += 1;
    let client: pg.PoolClient | undefined;
    let broken = false;
    try {
      client = await pools[kind].connect();
      return await work(intercept(queryOn(client, kind === 'writing'), kind));
    } catch (error) {
      broken = kind === 'writing' || isOfTheWay(error) || isOutdated(error);
      throw error;
    } finally {
      asking[kind] -= 1;
      client?.release(broken);
    }
  }

  return {
    settings,
    limits,
    query: async (text, values) => {
      for (let tried = 0; ; tried += 1) {
        try {
          return await using('reading', (query) => query(text, values));
        } catch (error) {
          // As often as there may be connections that remember it.
          if (!isOutdated(error) || tried >= limits.readers) throw storeFault(error, settings.shown);
        }
      }
    },
    async reading(work) {
      try {
        return await using('reading', async (query) => {
          await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
          try {
            await query(FREELY);
            return await work(query);
          } finally {
            await query('COMMIT').catch(() => undefined);
          }
        });
      } catch (error) {
        throw storeFault(error, settings.shown);
      }
    },
    writing: (work) => using('writing', work),
    client: ({ patient } = { patient: false }) =>
      new GuardedClient({
        ...config,
        statement_timeout: 0,
        ...(patient ? { query_timeout: PATIENT_MS } : {}),
      }),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([pools.reading.end(), pools.writing.end()]);
    },
  };
}

/** After it the statements of a transaction may take as long as they take, on the server and here. */
export const PATIENTLY = 'SET LOCAL statement_timeout = 0';

/**
 * A plan is made once for each connection, often while there is hardly a row, and to read a whole table is the best plan
 * then. It stays when there are many. What is asked on these connections has an index, however many rows there are.
 */
const WHOLE_TABLES = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'];
const BY_KEY = [...WHOLE_TABLES, 'jit'].map((name) => `-c ${name}=off`).join(' ');

/** For those who read all that there is. */
const FREELY = `SELECT ${WHOLE_TABLES.map((name) => `set_config('${name}', 'on', true)`).join(', ')}`;

/** Statements are prepared once for each connection, by a name that stands for their text. */
function queryOn(client: pg.ClientBase, isPipelined: boolean): Query {
  let patience = {};
  return async (text, values = []) => {
    if (isPipelined) sendTogether(client);
    const name = values.length > 0 || text.startsWith('SELECT') ? nameOf(text) : undefined;
    if (text === PATIENTLY) patience = { query_timeout: PATIENT_MS };
    const { rows, rowCount, command } = await client.query({
      ...(name === undefined ? {} : { name }),
      ...patience,
      text,
      values: values as unknown[],
    });
    // Of a transaction in which a statement has failed a commit is a rollback, and no error.
    if (text === 'COMMIT' && command !== 'COMMIT')
      throw new Error('what was to be committed was rolled back');
    return { rows: (rows ?? []) as readonly Row[], count: rowCount ?? 0 };
  };
}

const corked = new WeakSet<object>();

/** What is asked in one turn goes to the server in one piece. */
function sendTogether(client: pg.ClientBase): void {
  if (corked.has(client)) return;
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection;
  corked.add(client);
  stream.cork();
  process.nextTick(() => {
    corked.delete(client);
    stream.uncork();
  });
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `p${names.size}`;
  names.set(text, name);
  return name;
}

/** What every connection is made with. */
export function clientConfig(settings: ConnectionSettings, limits: DatabaseLimits): pg.ClientConfig {
  const { host, port, user, password, database, ssl, schema } = settings;
  // Set here rather than asked for: what the server or its user is set to must not make a commit less than durable.
  const words = [
    `search_path="${schema}"`,
    'synchronous_commit=on',
    'default_transaction_isolation=read\\ committed',
  ];
  return {
    host,
    port,
    user,
    password,
    database,
    ssl,
    application_name: 'phasegate',
    connectionTimeoutMillis: limits.connect,
    statement_timeout: limits.statement,
    lock_timeout: limits.lock,
    idle_in_transaction_session_timeout: limits.idle,
    // As when the way to it is cut.
    query_timeout: limits.statement + limits.late,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    options: words.map((word) => `-c ${word}`).join(' '),
    types: { getTypeParser },
  } as pg.ClientConfig;
}

/** A day: what takes longer does not end. */
const PATIENT_MS = 86_400_000;

const INT8 = 20;
const getTypeParser: typeof pg.types.getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser;

import type { Duty } from '@phasegate/core/ports';
import type pg from 'pg';
import type { Database } from './database.ts';
import { storeFault, unavailable } from './faults.ts';
import { LOCK } from './migrate.ts';

/** How soon the duty passes to another, in milliseconds. */
export interface DutyTimes {
  /** After so long without a word of it the database ends the session of the one who has the duty. */
  readonly silent: number;
  /** How often that one speaks. */
  readonly speak: number;
  /** An answer that took longer is not believed; well less than it may be silent. */
  readonly answer: number;
  /** How long who has left it does not ask for it. */
  readonly away: number;
}

const TIMES: DutyTimes = { silent: 10_000, speak: 2_000, answer: 4_000, away: 3_000 };

/**
 * The duty is a lock of a session that nothing else is done in. The database frees it with the session, and ends the
 * session by its own clock when nothing comes from it: so also where the node is paused or the way to it is cut, while its
 * connection stays open for both. An answer in that session is the proof that the lock is still there.
 */
export function createDuty(
  database: Database,
  times: Partial<DutyTimes> = {},
): Duty & { close(): Promise<void> } {
  const { silent, speak, answer, away } = { ...TIMES, ...times };
  const { schema, shown } = database.settings;
  const name = `${schema} duty`;
  let held: pg.Client | undefined;
  let taking: Promise<pg.Client | undefined> | undefined;
  let speaking: NodeJS.Timeout | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;
  let closed = false;

  function lose(client: pg.Client): void {
    if (held === client) {
      held = undefined;
      clearInterval(speaking);
    }
    client.end().catch(() => undefined);
  }

  /** Whether the session of a client answers, and answers soon: what was on its way while the node was paused is old. */
  async function answers(client: pg.Client): Promise<boolean> {
    const asked = performance.now();
    try {
      await client.query({ text: 'SELECT 1', query_timeout: answer } as pg.QueryConfig);
    } catch {
      lose(client);
      return false;
    }
    // The end of the session may have been read with the answer.
    return held === client && performance.now() - asked < answer;
  }

  /** A session with the lock; none where another has it. */
  async function take(): Promise<pg.Client | undefined> {
    // Asked for a moment on any connection: only the one who has the duty needs one of its own.
    const { rows } = await database.query(IS_FREE, [LOCK, name]);
    if (rows[0]?.free !== true) return undefined;
    const client = database.client();
    client.on('error', () => lose(client));
    client.on('end', () => lose(client));
    try {
      await client.connect();
      const taken = { text: TAKE, values: [LOCK, name, `${silent}ms`], query_timeout: answer };
      const { rows: answered } = await client.query(taken as pg.QueryConfig);
      if (answered[0]?.taken !== true || closed) {
        lose(client);
        return undefined;
      }
    } catch (error) {
      lose(client);
      throw storeFault(error, shown);
    }
    held = client;
    speaking = setInterval(() => void answers(client), speak).unref();
    return client;
  }

  async function leave(): Promise<void> {
    notBefore = performance.now() + away;
    const client = held ?? (await taking?.catch(() => undefined));
    if (client === undefined) return;
    held = undefined;
    clearInterval(speaking);
    // When it is answered it is free, which the end of a connection is some time later.
    await client.query({ text: FREE, query_timeout: answer } as pg.QueryConfig).catch(() => undefined);
    lose(client);
  }

  return {
    async isMine() {
      if (closed) throw unavailable(shown, 'it was closed');
      if (held === undefined) {
        if (performance.now() < notBefore) return false;
        taking ??= take().finally(() => {
          taking = undefined;
        });
        await taking;
      }
      return held !== undefined && (await answers(held));
    },
    leave,
    async close() {
      closed = true;
      await leave();
    },
  };
}

const IS_FREE = 'SELECT pg_try_advisory_xact_lock(hashtextextended($2, $1)) AS free';
const TAKE = `SELECT set_config('idle_session_timeout', $3, false),
  set_config('application_name', 'phasegate on duty', false),
  pg_try_advisory_lock(hashtextextended($2, $1)) AS taken`;
const FREE = 'SELECT pg_advisory_unlock_all()';

import { type CommitListeners, createCommitListeners } from '@phasegate/audit';
import type pg from 'pg';
import type { Database } from './database.ts';
import { integer } from './rows.ts';

/** Listeners that also hear of the commits of other nodes. */
export interface CommitWatch extends CommitListeners {
  close(): Promise<void>;
}

/**
 * Told by the database of every commit, on a connection of its own, while somebody listens. A word that gets lost, with
 * its connection or on the way, loses nobody anything: once a second it is looked whether there is something new.
 */
export function watchCommits(database: Database, channel: string): CommitWatch {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let seen = -1;
  let looking: Promise<void> | undefined;
  let closed = false;

  async function connect(): Promise<void> {
    const mine = database.client();
    client = mine;
    const lost = () => {
      if (client === mine) client = undefined;
      mine.end().catch(() => undefined);
    };
    mine.on('error', lost);
    mine.on('end', lost);
    mine.on('notification', () => listeners.tell());
    try {
      await mine.connect();
      await mine.query(`LISTEN "${channel}"`);
      if (closed || timer === undefined) lost();
    } catch {
      // It is tried again with the next look, which tells of what was missed.
      lost();
    }
  }

  async function look(): Promise<void> {
    if (client === undefined) await connect();
    let place: number;
    try {
      place = integer((await database.query('SELECT place FROM heads')).rows[0] ?? {}, 'place');
    } catch {
      // A database that cannot be asked is met by the next reader; here it would only end the process.
      return;
    }
    const isNew = place !== seen;
    seen = place;
    if (isNew) listeners.tell();
  }

  const listeners = createCommitListeners({
    busy() {
      const again = () => {
        looking ??= look().finally(() => {
          looking = undefined;
        });
      };
      timer = setInterval(again, LOOK_EVERY).unref();
      again();
    },
    idle() {
      clearInterval(timer);
      timer = undefined;
      const gone = client;
      client = undefined;
      gone?.end().catch(() => undefined);
    },
  });

  return {
    ...listeners,
    async close() {
      closed = true;
      listeners.clear();
      await looking;
      await client?.end().catch(() => undefined);
    },
  };
}

/** How often it is looked whether a word was missed, in milliseconds. */
const LOOK_EVERY = 1000;

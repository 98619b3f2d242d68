import type { PhasegateError } from '@phasegate/core';
import type { Database } from './database.ts';
import { storeFault, unavailable } from './faults.ts';

/** Whether writes go well, as far as those of this node tell. */
export interface Writable {
  /** A write was committed. */
  wrote(): void;
  /** A write was given up. */
  failed(fault: PhasegateError): void;
  /** Throws `store_unavailable` where the last write failed and another would too. Asks the database only then. */
  demand(): Promise<void>;
}

/**
 * A database may answer every question and take no write: its tables are locked by somebody, the connection to write on
 * cannot be opened, it became a replica. A write that failed says so until one goes well, or would: that is tried on the
 * connection that writes go by, once at a time, so that one slow write among others makes no node unready.
 */
export function createWritable(database: Pick<Database, 'settings' | 'writing'>): Writable {
  const { shown } = database.settings;
  let failing = false;
  let trying: Promise<void> | undefined;

  async function attempt(): Promise<void> {
    try {
      await database.writing(async (query) => {
        await query('BEGIN');
        await query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
        await query(`LOCK TABLE ${WRITTEN} IN ROW EXCLUSIVE MODE`);
        await query(TRIAL);
        // It was only to be seen whether it can be done.
        await query('ROLLBACK');
      });
      failing = false;
    } catch (error) {
      const fault = storeFault(error, shown);
      throw fault.code === 'store_unavailable' ? fault : unavailable(shown, fault.message, { cause: fault });
    }
  }

  return {
    wrote() {
      failing = false;
    },
    failed({ code }) {
      if (code === 'store_unavailable') failing = true;
    },
    async demand() {
      if (!failing) return;
      trying ??= attempt().finally(() => {
        trying = undefined;
      });
      await trying;
    },
  };
}

/** Less than who asks waits for the answer. */
const LOCK_MS = 1000;
/** What nearly every write is written into. */
const WRITTEN = 'heads, runs, run_heads, audit, leases, calls, kept';
/** Nobody else has this key, so that nodes do not wait for each other. */
const TRIAL = `INSERT INTO touched (what, number) VALUES ('trial ' || pg_backend_pid(), 0)`;

import type { Database } from './database.ts';
import { storeFault } from './faults.ts';
import { LOCK } from './migrate.ts';

/** The month a run was started in, which its records and texts are kept by: year times a hundred and the month. */
export function eraOf(time: string): number {
  const found = /^(\d{4})-(\d{2})/.exec(time);
  return found === null ? FIRST_ERA : Math.max(FIRST_ERA, Number(found[1]) * 100 + Number(found[2]));
}

/** That of the project's own chain. */
export const PROJECT_ERA = 0;

/** For times that are none. */
const FIRST_ERA = 100;

/** Makes sure that there are partitions for records of runs. */
export interface Partitions {
  /** Makes those of these months where they are missing. */
  require(eras: Iterable<number>): Promise<void>;
}

/** Remembers which there are. */
export function createPartitions(database: Database): Partitions {
  const known = new Set<number>();
  return {
    async require(eras) {
      const missing = [...new Set(eras)].filter((era) => !known.has(era));
      for (const era of missing) {
        // The one after it too, long before it is needed.
        await attach(database, [era, nextEra(era)]);
        known.add(era);
        known.add(nextEra(era));
      }
    },
  };
}

/** The month after. */
export function nextEra(era: number): number {
  return era % 100 >= 12 ? era + 89 : era + 1;
}

/**
 * A partition is made as a table of its own and then attached: that locks out nobody who reads or writes. Nodes that
 * want the same one wait for each other.
 */
async function attach(database: Database, eras: readonly number[]): Promise<void> {
  const { shown, schema } = database.settings;
  const wanted = eras.flatMap((era) =>
    ['audit', 'texts'].map((table) => ({ table, era, name: `${table}_${era}` })),
  );
  const { rows } = await database.query(
    'SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = ANY($2)',
    [schema, wanted.map(({ name }) => name)],
  );
  const there = new Set(rows.map(({ relname }) => relname));
  const missing = wanted.filter(({ name }) => !there.has(name));
  if (missing.length === 0) return;
  const client = database.client();
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK, schema]);
    for (const { table, era, name } of missing) {
      const { rows: found } = await client.query('SELECT to_regclass($1) AS found', [`"${schema}".${name}`]);
      if (found[0]?.found !== null) continue;
      await client.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
      await client.query(
        `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${era}) TO (${era + 1})`,
      );
    }
    await client.query('COMMIT');
  } catch (error) {
    throw storeFault(error, shown);
  } finally {
    await client.end().catch(() => undefined);
  }
}

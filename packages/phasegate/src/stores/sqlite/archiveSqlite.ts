import type { DatabaseSync } from 'node:sqlite';
import { type Bundle, type Bundling, type KeyedRow, writeBundle } from '@phasegate/audit/verify';
import type { Seal } from '../../runtime/ports.ts';
import { storeFault } from './faults.ts';
import { beginReading, openToRead, sqliteSource } from './verifySqlite.ts';

export { changedMeanwhile } from '@phasegate/audit/verify';

/** Writes the runs of a database that ended before a time to a bundle. Null where there is none. Changes nothing in it. */
export async function bundleRuns(from: string, bundling: Bundling): Promise<Bundle | null> {
  try {
    return await writeBundle(bundling, async (write) => {
      const database = openToRead(from);
      try {
        beginReading(database);
        const source = sqliteSource(database, bundling.seal);
        return await write({ source, rows: oldRows(database, bundling) });
      } finally {
        database.close();
      }
    });
  } catch (error) {
    throw storeFault(error, bundling.file);
  }
}

function* oldRows(
  database: DatabaseSync,
  { seal, before }: { readonly seal: Seal; readonly before: string },
): Generator<KeyedRow> {
  const found = database.prepare(OLD);
  found.setReadBigInts(true);
  const source = sqliteSource(database, seal);
  for (const key of found.all(before).map((row) => row.key as bigint)) {
    for (const row of source.rows({ first: key, last: key })) yield { key: Number(key), row };
  }
}

/** A call that is under way still has a record to come. */
const OLD = `SELECT key FROM runs WHERE status IN ('completed', 'stopped') AND updated_at < ?
  AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.run = runs.id) ORDER BY key`;

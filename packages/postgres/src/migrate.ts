import { own, PhasegateError } from '@phasegate/core';
import type pg from 'pg';
import type { Database } from './database.ts';
import { storeFault } from './faults.ts';
import { MIGRATIONS } from './migrations/index.ts';

/**
 * Brings the tables up to this version. Several nodes may do so at once: one migrates, and the others wait for it. Who
 * reads meanwhile goes on reading. Throws `store_newer` where another version was here, and `store_corrupt` where there
 * are no tables though there were: made anew, all runs and humans would be gone, unsaid.
 */
export async function migrate(database: Database, existed = false): Promise<void> {
  const { shown, schema } = database.settings;
  const client = database.client({ patient: true });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const found = await formatIn(client, database);
    if (found === MIGRATIONS.length) return;
    if (found === 0 && existed) {
      const message = `\`${shown}\` held the runs of this project, and its tables are gone`;
      throw new PhasegateError('store_corrupt', message, {
        hint: 'look whether the address is right, and put a backup back with `pg_restore`',
      });
    }
    await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [LOCK, schema]);
    await client.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    for (let format = await formatIn(client, database); format < MIGRATIONS.length; format += 1) {
      await applyOne(client, format);
    }
  } catch (error) {
    throw storeFault(error, shown);
  } finally {
    // With the connection goes its lock.
    await client.end().catch(() => undefined);
  }
}

/** Of all advisory locks of Phasegate; the second number tells them apart. */
export const LOCK = 1_347_241_029;

async function applyOne(client: pg.Client, format: number): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(MIGRATIONS[format] as string);
    await client.query(
      'CREATE TABLE IF NOT EXISTS phasegate_format (one boolean PRIMARY KEY, format integer)',
    );
    await client.query(
      'INSERT INTO phasegate_format VALUES (true, $1) ON CONFLICT (one) DO UPDATE SET format = excluded.format',
      [format + 1],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function formatIn(client: pg.Client, { settings, limits }: Database): Promise<number> {
  const { shown } = settings;
  let format: number;
  try {
    // A server that does not even answer this is not one to be patient with.
    const { rows } = await client.query({
      text: 'SELECT format FROM phasegate_format',
      query_timeout: limits.statement + limits.late,
    } as pg.QueryConfig);
    if (rows.length === 0) return 0;
    format = Number(own(rows[0], 'format') ?? -1);
  } catch (error) {
    if (own(error, 'code') === NO_SUCH_TABLE) return 0;
    throw error;
  }
  if (format < 0) {
    throw new PhasegateError('store_corrupt', `\`${shown}\` has no format that there is`, {
      hint: 'put a backup back with `pg_restore`',
    });
  }
  if (format <= MIGRATIONS.length) return format;
  throw new PhasegateError(
    'store_newer',
    `\`${shown}\` has format ${format}, and this version knows formats up to ${MIGRATIONS.length}`,
    { hint: 'use the version of Phasegate that the other nodes have' },
  );
}

const NO_SUCH_TABLE = '42P01';

import { type ArchivedStub, stubMac, tampered } from '@phasegate/audit';
import { type AuditKnowledge, type BundledKey, changedMeanwhile, writeBundle } from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type { ArchiveStore, AuditReport, Seal } from '@phasegate/core/ports';
import { storedStub } from './archived.ts';
import { type Database, PATIENTLY, type Query } from './database.ts';
import { columns, integer, isStorable, text } from './rows.ts';
import { keyedRows, postgresSource } from './verifyPostgres.ts';
import type { Writer } from './writer.ts';

/** What the archive of a store is built from. */
export interface ArchivePartsOf {
  readonly database: Database;
  readonly writer: Writer;
  readonly seal: Seal;
  readonly knowledge: AuditKnowledge;
  /** ISO time. */
  readonly time: () => string;
  verify(): Promise<AuditReport>;
}

/** The part of a store that archives runs. Partitions stay: what is left of them is small, and none is ever dropped. */
export function archiveParts(parts: ArchivePartsOf): Required<ArchiveStore> {
  const { database, writer, seal, knowledge } = parts;
  return {
    async archive({ before, file, by }) {
      // What was changed from outside must not become what was archived.
      const [first] = (await parts.verify()).findings;
      if (first !== undefined) {
        throw new PhasegateError('audit_broken', `the audit does not verify: ${first.message}`, {
          hint: 'nothing was archived; `phasegate audit verify` says all that is wrong',
        });
      }
      const time = parts.time();
      const bundle = await writeBundle({ seal, knowledge, before, file, by, time }, (write) =>
        database.reading(async (query) => {
          await query(PATIENTLY);
          await query("SET LOCAL idle_in_transaction_session_timeout = '5min'");
          return write({ source: postgresSource(query, seal), rows: keyedRows(query, seal, before) });
        }),
      );
      if (bundle === null) return null;
      const { sha256, records, moved } = bundle;
      const data = { file, sha256, runs: moved.length, records, before };
      await writer.alone(async (query, batch) => {
        await query(PATIENTLY);
        await requireAsBundled(query, moved, file);
        batch.project([{ time, principal: by, event: 'runs_archived', data }]);
        const stubs = moved.map(({ key, ...run }) => ({ key, ...run, file, sha256, archivedAt: time }));
        await moveRuns(query, seal, stubs);
      });
      return { file, sha256, runs: moved.length, records };
    },
    async archiveFiles() {
      const { rows } = await database.query(FILES);
      return rows.map((row) => ({ file: text(row, 'file'), runs: integer(row, 'runs') }));
    },
    async archivedRun(runId) {
      if (!isStorable(runId)) return undefined;
      const { rows } = await database.query('SELECT * FROM archived WHERE run = $1', [runId]);
      if (rows[0] === undefined) return undefined;
      const { sealed, file, sha256, archivedAt } = storedStub(seal, rows[0]);
      if (!sealed) throw tampered(`the stub of archived run \`${runId}\``);
      return { file, sha256, archivedAt };
    },
  };
}

/** INVARIANT: nothing of a run came after it was bundled. It is locked until it is gone. */
async function requireAsBundled(query: Query, moved: readonly BundledKey[], file: string): Promise<void> {
  const { rows } = await query(LOCKED, [moved.map(({ key }) => key)]);
  const heads = new Map(rows.map((row) => [integer(row, 'key'), row]));
  const changed = moved.find(({ key, run, head }) => {
    const row = heads.get(key);
    if (row === undefined || text(row, 'id') !== run) return true;
    return integer(row, 'seq') !== head.seq || text(row, 'hash') !== head.hash;
  });
  if (changed !== undefined) throw changedMeanwhile(changed.run, file);
}

/** The runs are in an archive from now on: their stubs stay, and all of their rows go. */
async function moveRuns(
  query: Query,
  seal: Seal,
  stubs: readonly (ArchivedStub & { readonly key: number })[],
): Promise<void> {
  const rows = stubs.map(({ key, ...stub }) => {
    const { run, head, first, last, file, sha256, archivedAt } = stub;
    return [key, run, head.seq, head.hash, first, last, file, sha256, archivedAt, stubMac(seal, stub)];
  });
  await query(INSERT_STUBS, columns(rows, 10));
  const [keys, runs] = [stubs.map(({ key }) => key), stubs.map(({ run }) => run)];
  // By month as well, so that only the partitions are looked at that have them.
  for (const table of ['audit', 'texts']) await query(DROP_BY_ERA(table), [keys]);
  await query('DELETE FROM run_heads WHERE run = ANY($1::bigint[])', [keys]);
  await query('DELETE FROM runs WHERE key = ANY($1::bigint[])', [keys]);
  for (const table of ['leases', 'calls', 'calls_begun'])
    await query(`DELETE FROM ${table} WHERE run = ANY($1::text[])`, [runs]);
}

const LOCKED = `SELECT r.key, r.id, h.seq, h.hash FROM runs r JOIN run_heads h ON h.run = r.key
  WHERE r.key = ANY($1::bigint[]) ORDER BY r.key FOR UPDATE`;
const FILES =
  'SELECT file, count(*)::int AS runs FROM archived GROUP BY file ORDER BY min(archived_at), file';
const INSERT_STUBS = `INSERT INTO archived
    (key, run, seq, hash, first_place, last_place, file, sha256, archived_at, mac)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[],
    $9::text[], $10::text[])`;
const DROP_BY_ERA = (table: string) => `DELETE FROM ${table} t USING runs r
  WHERE r.key = ANY($1::bigint[]) AND t.era = r.era AND t.run = r.key`;

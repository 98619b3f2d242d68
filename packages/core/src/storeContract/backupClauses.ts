import type { DatabaseBackup } from '../ports/database.ts';
import { type Clause, create } from './clause.ts';
import { sampleDraft } from './samples.ts';

/** What every store must do with the backups of authors' databases. */
export const BACKUP_CLAUSES: readonly Clause[] = [
  {
    name: "keeps the backups of authors' databases, the newest first, and records each",
    async body(store, expect, { sampleRun }) {
      expect(await store.databaseBackups()).toEqual([]);
      await create(store, sampleRun('r1'));
      const late = sampleBackup('db-1', '2026-01-02T00:00:00.000Z', 'r1');
      const early = sampleBackup('db-2', '2026-01-01T00:00:00.000Z', null);
      const twin = sampleBackup('db-3', '2026-01-02T00:00:00.000Z', 'r1');
      for (const backup of [late, early, twin]) {
        await store.putBackup(backup, [sampleDraft('user_database_backed_up', { id: backup.id })]);
      }
      expect(await store.databaseBackups()).toEqual([twin, late, early]);
      expect(await store.history(null, { after: 1, limit: 10 })).toMatchObject([
        { event: 'user_database_backed_up', data: { id: 'db-1' } },
        { data: { id: 'db-2' } },
        { data: { id: 'db-3' } },
      ]);
      expect((await store.verify()).findings).toEqual([]);
    },
  },
];

function sampleBackup(id: string, createdAt: string, run: string | null): DatabaseBackup {
  return { id, createdAt, path: `/backups/${id}.db`, run, sizeBytes: 4096 };
}

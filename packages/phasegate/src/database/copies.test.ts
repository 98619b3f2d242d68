import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { replaceContents } from './copies.ts';

test.each(['delete', 'wal'])(
  'a change is asked about while the %s database is locked against everybody, and undoes all',
  async (journal) => {
    const folder = mkdtempSync(join(tmpdir(), 'replace-'));
    const [from, to] = [make(join(folder, 'from.db'), 'new'), make(join(folder, 'to.db'), 'old', journal)];
    const writer = new DatabaseSync(to, { timeout: 0 });
    const asked: string[] = [];

    const replaced = replaceContents(from, to, {
      patience: { busyMs: 0 },
      changed() {
        try {
          writer.exec("INSERT INTO t VALUES ('late')");
          asked.push('free');
        } catch {
          asked.push('locked');
        }
        return asked.length === 2 ? new Error('stop') : null;
      },
    });

    await expect(replaced).rejects.toThrow('stop');
    expect(asked).toEqual(['free', 'locked']);
    expect(writer.prepare('SELECT a FROM t').all()).toEqual([{ a: 'old' }, { a: 'late' }]);
    writer.close();
    rmSync(folder, { recursive: true });
  },
);

function make(file: string, value: string, journal = 'delete'): string {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode=${journal}; CREATE TABLE t (a); INSERT INTO t VALUES ('${value}')`);
  database.close();
  return file;
}

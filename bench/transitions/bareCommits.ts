import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What one transition writes. */
export interface Payload {
  readonly state: string;
  readonly record: string;
}

/** The same bytes, written by nothing but SQLite: one row updated and one record appended a commit, or a group of them. */
export async function bareCommits(work: {
  readonly folder: string;
  readonly payloads: readonly Payload[];
  readonly count: number;
  readonly parallel: number;
}): Promise<void> {
  const { payloads, count, parallel } = work;
  const database = new DatabaseSync(join(work.folder, 'bare.db'));
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000');
  database.exec('CREATE TABLE runs (id TEXT PRIMARY KEY, state TEXT) STRICT');
  database.exec(
    'CREATE TABLE audit (run TEXT, seq INTEGER, record TEXT, PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID',
  );
  const insert = database.prepare('INSERT INTO runs VALUES (?, ?)');
  const update = database.prepare('UPDATE runs SET state = ? WHERE id = ?');
  const append = database.prepare('INSERT INTO audit VALUES (?, ?, ?)');
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  const runs = Math.ceil(count / payloads.length);
  begin.run();
  for (let run = 0; run < runs; run++) insert.run(`run-${run}`, '');
  commit.run();
  // As agents work: so many runs at a time, each taking its next step with the others.
  for (let first = 0; first < runs; first += parallel) {
    payloads.forEach((payload, step) => {
      begin.run();
      for (let run = first; run < Math.min(first + parallel, runs); run++) {
        update.run(payload.state, `run-${run}`);
        append.run(`run-${run}`, step, payload.record);
      }
      commit.run();
    });
  }
  database.close();
}

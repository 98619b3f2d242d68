import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Contender, newEvidence, STEPS } from './contender.ts';

/**
 * Nothing but SQLite: prepared statements, WAL, FULL; for each step one state row updated and one audit row with the
 * evidence inserted, one commit for a step, or for the same step of a batch of runs.
 */
export async function openBareSqlite(folder: string): Promise<Contender> {
  const database = new DatabaseSync(join(folder, 'bare.db'));
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000');
  database.exec('CREATE TABLE runs (id TEXT PRIMARY KEY, state TEXT) STRICT');
  database.exec('CREATE TABLE audit (run TEXT, seq INTEGER, data TEXT, PRIMARY KEY (run, seq)) STRICT');
  const insert = database.prepare('INSERT INTO runs VALUES (?, ?)');
  const update = database.prepare('UPDATE runs SET state = ? WHERE id = ?');
  const append = database.prepare('INSERT INTO audit VALUES (?, ?, ?)');
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  let runs = 0;
  return {
    async walk(count, parallel) {
      for (let first = 0; first < count; first += parallel) {
        const ids = Array.from({ length: Math.min(parallel, count - first) }, () => `run-${runs++}`);
        begin.run();
        for (const id of ids) {
          insert.run(id, JSON.stringify({ id, phase: STEPS[0] }));
          append.run(id, 1, JSON.stringify({ event: 'run_started', time: new Date().toISOString() }));
        }
        commit.run();
        STEPS.forEach((step, index) => {
          begin.run();
          for (const id of ids) {
            update.run(JSON.stringify({ id, phase: STEPS[index + 1] ?? null }), id);
            const time = new Date().toISOString();
            append.run(
              id,
              index + 2,
              JSON.stringify({ event: 'completed', step, time, evidence: newEvidence() }),
            );
          }
          commit.run();
        });
        // Others take their turn between two batches.
        await Promise.resolve();
      }
    },
    async close() {
      database.close();
    },
  };
}

import { DatabaseSync } from 'node:sqlite';

// What any program that keeps its state in SQLite must do at least: start, open, commit once, say so.
const database = new DatabaseSync(process.argv[2]);
database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS t (a)');
database.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (1); COMMIT');
process.stdout.write('done\n');
database.close();

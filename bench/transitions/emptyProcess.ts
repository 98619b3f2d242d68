import { DatabaseSync } from 'node:sqlite';

// What any program that keeps its state in SQLite must do at least: start, open, commit once.
const database = new DatabaseSync(process.argv[2] as string);
database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS t (a)');
database.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (1); COMMIT');
database.close();

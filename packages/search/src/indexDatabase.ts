import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PhasegateError } from '@phasegate/core';

/** Raised when tables, chunks or tokens change; an index of another version is made anew. */
export const INDEX_VERSION = 1;

/** How words are cut and stemmed, in the index and in a question alike. */
export const TOKENIZER = 'porter unicode61 remove_diacritics 2';

/** Opens the index, made anew where it is missing, of another version, or not intact. It is a cache: nothing is lost. */
export function openIndex(file: string): DatabaseSync {
  try {
    return openIntact(file);
  } catch (error) {
    if (!isDamage(error)) throw indexFault(error, file);
  }
  discardIndex(file);
  try {
    return openIntact(file);
  } catch (error) {
    throw indexFault(error, file);
  }
}

/** Removes the files of an index. */
export function discardIndex(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

/** Empties the index; vectors stay, because they belong to texts and not to files. */
export function resetIndex(database: DatabaseSync): void {
  database.exec(`DROP TABLE IF EXISTS vocabulary; DROP TABLE IF EXISTS fts; DROP TABLE IF EXISTS chunk;
    DROP TABLE IF EXISTS file_tag; DROP TABLE IF EXISTS file; DROP TABLE IF EXISTS generation; ${SCHEMA};
    PRAGMA user_version=${INDEX_VERSION}`);
}

/** Runs work in a transaction that other processes wait for; all of it or nothing. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Whether the index itself is broken, so that making it anew helps. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  if (/no such module/.test(error.message)) return false;
  return DAMAGE.has(Number(error.errcode) & 0xff);
}

/** Says in Phasegate's words that there is no index to search; an empty answer would be a lie. */
export function indexFault(error: unknown, file: string): PhasegateError {
  if (error instanceof PhasegateError) return error;
  if (!(error instanceof Error) || !('code' in error)) {
    return new PhasegateError('internal', `searching the documentation failed: ${String(error)}`, {
      cause: error,
    });
  }
  const reason = error.message;
  const noSearch = /no such module: fts5/.test(reason);
  return new PhasegateError(
    'store_unavailable',
    `the documentation index \`${file}\` cannot be used: ${reason}`,
    {
      cause: error,
      hint: noSearch
        ? 'this Node.js has no full-text search; use 22.16 or newer'
        : 'run `phasegate index --rebuild`',
    },
  );
}

/** SQLite's codes for a statement that does not fit, a broken file, and a file that is not a database. */
const DAMAGE = new Set([1, 11, 26]);

const SCHEMA = `
CREATE TABLE generation (number INTEGER NOT NULL);
INSERT INTO generation VALUES (0);
CREATE TABLE file (
  path TEXT PRIMARY KEY, mtime REAL NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
  same_as TEXT, title TEXT NOT NULL, phase INTEGER, tags TEXT NOT NULL, workflows TEXT NOT NULL,
  closed INTEGER NOT NULL, chunks INTEGER NOT NULL, warnings TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX file_sha256 ON file (sha256);
CREATE TABLE file_tag (path TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (tag, path)) WITHOUT ROWID;
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, line INTEGER NOT NULL, section TEXT NOT NULL,
  title TEXT NOT NULL, headings TEXT NOT NULL, hooks TEXT NOT NULL, body TEXT NOT NULL, bodyhash TEXT NOT NULL
);
CREATE INDEX chunk_path ON chunk (path);
CREATE INDEX chunk_bodyhash ON chunk (bodyhash);
CREATE VIRTUAL TABLE fts USING fts5(
  title, headings, hooks, body, content='chunk', content_rowid='id', tokenize='${TOKENIZER}'
);
INSERT INTO fts (fts, rank) VALUES ('rank', 'bm25(4.0, 3.0, 2.0, 1.0)');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('fts', 'row');
CREATE TRIGGER chunk_added AFTER INSERT ON chunk BEGIN
  INSERT INTO fts (rowid, title, headings, hooks, body)
  VALUES (new.id, new.title, new.headings, new.hooks, new.body);
END;
CREATE TRIGGER chunk_removed AFTER DELETE ON chunk BEGIN
  INSERT INTO fts (fts, rowid, title, headings, hooks, body)
  VALUES ('delete', old.id, old.title, old.headings, old.hooks, old.body);
END;
CREATE TABLE IF NOT EXISTS vec (
  bodyhash TEXT NOT NULL, model TEXT NOT NULL, v BLOB NOT NULL, PRIMARY KEY (model, bodyhash)
) WITHOUT ROWID`;

function openIntact(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(file);
  try {
    // The index can be made again, so a power cut may cost it its last change.
    database.exec(`PRAGMA busy_timeout=15000; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
      PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000`);
    if (versionOf(database) !== INDEX_VERSION || !isComplete(database)) {
      inTransaction(database, () => {
        // Asked again under the lock: another process may have made it meanwhile.
        if (versionOf(database) !== INDEX_VERSION || !isComplete(database)) resetIndex(database);
      });
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}

/** Files, chunks and words must agree in number: an index that lost its words would answer everything with nothing. */
function isComplete(database: DatabaseSync): boolean {
  const row = database
    .prepare(
      `SELECT (SELECT total(chunks) FROM file) AS promised, (SELECT count(*) FROM chunk) AS held,
        (SELECT count(*) FROM fts_docsize) AS worded`,
    )
    .get();
  return Number(row?.promised) === Number(row?.held) && Number(row?.held) === Number(row?.worded);
}

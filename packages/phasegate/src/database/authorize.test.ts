import { readdirSync, statSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import {
  books,
  clearBooks,
  DELETE_MESSAGE,
  OWN_UPDATE,
  refusal,
  schema,
  titles,
  ways,
} from './fixtures/books.ts';
import { requireAuthorizer } from './rawDatabase.ts';

afterEach(clearBooks);

describe('what is refused', () => {
  test.each([
    'DELETE FROM book',
    'DELETE FROM book WHERE 1=1',
    '/* harmless */ DELETE FROM book',
    '-- harmless\nDELETE FROM book',
    '  \n;; DELETE FROM book',
    '\u{feff}DELETE FROM book',
    'WITH old AS (SELECT id FROM book) DELETE FROM book WHERE id IN old',
    'dElEtE/**/fRoM"book"',
    'DELETE FROM book RETURNING *',
    'EXPLAIN DELETE FROM book',
    'DELETE FROM main.book',
  ])('a delete without confirmation, however it is written: %j [S3.12 S3.72 fail.41]', (sql) => {
    const { db } = books();

    for (const way of ways(db)) expect(refusal(() => way(sql))).toBe(DELETE_MESSAGE);
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test.each([
    'DROP TABLE book',
    'DROP VIEW long_book',
    'DROP INDEX book_title',
    'DROP TRIGGER IF EXISTS kept',
    'ALTER TABLE book ADD COLUMN x',
    'ALTER TABLE book RENAME TO livre',
    'ALTER TABLE book DROP COLUMN pages',
    'CREATE TABLE x (a)',
    'CREATE TABLE x AS SELECT * FROM book',
    'CREATE TEMP TABLE x (a)',
    'CREATE INDEX x ON book (pages)',
    'CREATE VIEW x AS SELECT 1',
    'CREATE TEMP VIEW book AS SELECT 1',
    'CREATE TRIGGER x AFTER INSERT ON book BEGIN DELETE FROM book; END',
    'CREATE TEMP TRIGGER x AFTER INSERT ON book BEGIN DELETE FROM book; END',
    'CREATE VIRTUAL TABLE x USING fts5(a)',
    'REINDEX',
    'ANALYZE',
    'UPDATE sqlite_master SET sql = NULL',
    'UPDATE sqlite_schema SET sql = NULL',
    "INSERT INTO sqlite_master VALUES ('table','x','x',2,'CREATE TABLE x(a)')",
    'DELETE FROM sqlite_master',
    'DELETE FROM sqlite_temp_master',
  ])('a change of the schema: %s [S3.12 S3.74 fail.41]', (sql) => {
    const { db, file } = books('CREATE TRIGGER kept AFTER INSERT ON book BEGIN SELECT 1; END');
    const before = schema(file);

    for (const way of ways(db))
      expect(refusal(() => way(sql))).toMatch(/the schema is changed by migrations only|may not be modified/);
    expect(schema(file)).toEqual(before);
  });

  test.each([
    ["ATTACH 'other.db' AS other", /reach other files/],
    ['ATTACH ? AS other', /reach other files/],
    ['DETACH main', /not allowed/],
    ['VACUUM', /reach other files/],
    ["VACUUM INTO 'copy.db'", /reach other files/],
    ["VACUUM main INTO 'copy.db'", /reach other files/],
    ['PRAGMA writable_schema=ON', /PRAGMA writable_schema/],
    ['PRAGMA main.writable_schema=1', /PRAGMA writable_schema/],
    ['PRAGMA journal_mode=OFF', /PRAGMA journal_mode/],
    ['PRAGMA foreign_keys=OFF', /PRAGMA foreign_keys/],
    ['PRAGMA recursive_triggers=OFF', /PRAGMA recursive_triggers/],
    ['PRAGMA trusted_schema=ON', /PRAGMA trusted_schema/],
    ['PRAGMA user_version=7', /PRAGMA user_version/],
    ['PRAGMA schema_version=7', /PRAGMA schema_version/],
    ["PRAGMA temp_store_directory='/tmp'", /PRAGMA temp_store_directory/],
    ['PRAGMA wal_checkpoint', /PRAGMA wal_checkpoint/],
    ['PRAGMA optimize', /PRAGMA optimize/],
    ["SELECT load_extension('x')", /load_extension/],
    ["SELECT fts3_tokenizer('simple')", /fts3_tokenizer/],
    ['BEGIN', /db.transaction/],
    ['COMMIT', /db.transaction/],
    ['ROLLBACK', /db.transaction/],
    ['SAVEPOINT x', /db.transaction/],
    ["UPDATE phasegate_migrations SET sha256 = ''", /kept by Phasegate/],
    ["INSERT INTO phasegate_migrations VALUES (9, '', '', '')", /kept by Phasegate/],
    ['UPDATE sqlite_sequence SET seq = 1', /not a table to write to/],
  ])('what reaches beyond rows of tables: %s [S3.12 fail.41]', (sql, message) => {
    const { db, folder } = books();
    const files = readdirSync(folder);

    for (const way of ways(db))
      expect(refusal(() => way(sql, ...(sql.includes('?') ? ['x.db'] : [])))).toMatch(message);
    expect(readdirSync(folder)).toEqual(files);
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test('another file cannot be read, by no function and by no virtual table', () => {
    const { db, file } = books();

    for (const sql of [`SELECT readfile('${file}')`, `SELECT writefile('${file}', 'x')`, "SELECT edit('x')"])
      expect(() => db.get(sql)).toThrow();
    expect(() => db.get('SELECT * FROM sqlite_dbpage')).toThrow();
    expect(() => db.get(`SELECT * FROM csv('${file}')`)).toThrow();
  });

  test.each([
    'SELECT 1; DELETE FROM book',
    "INSERT INTO book (title) VALUES ('x'); DROP TABLE book",
    'SELECT 1; SELECT 2',
    'SELECT 1; /* a */ SELECT 2',
    "SELECT 1; -- a\nSELECT ';'",
    'SELECT 1; /* a */ SELECT /* b */ 2',
    'SELECT 1;\u{a0}',
  ])('several statements in one text: %j [fail.41]', (sql) => {
    const { db } = books();

    for (const way of ways(db)) expect(refusal(() => way(sql))).toBe('only one statement at a time');
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test('what is no second statement is none', () => {
    const { db } = books();

    expect(db.get("SELECT ';--' AS a ; ; -- end")).toMatchObject({ a: ';--' });
    expect(db.get('SELECT 2 AS a /* ; */; /* never closed')).toMatchObject({ a: 2 });
    expect(refusal(() => db.get('SELECT 1\0; DROP TABLE book'))).toMatch(/NUL/);
    expect(refusal(() => db.get("SELECT '\ud800'"))).toMatch(/half a character/);
    expect(() => db.get('')).toThrow();
  });

  test.each([
    "INSERT OR REPLACE INTO book (id, title) VALUES (1, 'x')",
    "REPLACE INTO book (id, title) VALUES (1, 'x')",
    "UPDATE OR REPLACE book SET title = 'Dune' WHERE id = 2",
    'INSERT OR REPLACE INTO book SELECT * FROM book',
    "WITH x AS (SELECT 1) INSERT OR REPLACE INTO book (title) SELECT 'Dune' FROM x",
    "INSERT INTO tag VALUES ('a')",
  ])('a conflict that would delete the row in the way: %s', (sql) => {
    for (const more of ['', OWN_UPDATE]) {
      const { db } = books(`CREATE TABLE tag (name TEXT UNIQUE ON CONFLICT REPLACE); ${more}`);

      for (const way of ways(db)) expect(refusal(() => way(sql))).toMatch(/REPLACE resolves deletes rows/);
      expect(titles(db)).toEqual(['Dune', 'Ulysses']);
    }
  });

  test('deletes that triggers and foreign keys would make', () => {
    const { db } = books(`
      CREATE TRIGGER purge AFTER INSERT ON note BEGIN DELETE FROM book; END;
      CREATE TRIGGER swap AFTER UPDATE OF pages ON book BEGIN REPLACE INTO book (id, title) VALUES (1, 'x'); END;
      CREATE TRIGGER through INSTEAD OF UPDATE ON long_book BEGIN DELETE FROM book WHERE id = old.id; END;`);

    expect(refusal(() => db.run('INSERT INTO note (book) VALUES (1)'))).toBe(DELETE_MESSAGE);
    expect(refusal(() => db.run('UPDATE book SET pages = 1'))).toMatch(/REPLACE resolves deletes rows/);
    expect(refusal(() => db.run("UPDATE long_book SET title = 'x'"))).toBe(DELETE_MESSAGE);
    expect(() => db.run('DELETE FROM long_book')).toThrow(/it is a view/);
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test('a trigger that updates its own row still ends', () => {
    const { db } = books(OWN_UPDATE);

    db.run("UPDATE book SET title = 'Emma' WHERE id = 1");
    db.run("INSERT INTO book (title, pages) VALUES ('Persuasion', 1)");

    expect(titles(db)).toEqual(['Emma!', 'Ulysses', 'Persuasion']);
  });

  test('the messages of the design [S3.69 S3.70 S3.71 S3.72]', () => {
    const { db, file } = books();

    expect(refusal(() => db.dropTable('book'))).toBe('DROP TABLE blocked. Use migrations system.');
    expect(refusal(() => db.deleteDatabase())).toBe('Database deletion blocked.');
    expect(refusal(() => db.truncateTable('book'))).toBe(
      'TRUNCATE blocked. Use explicit DELETE with confirmation.',
    );
    expect(refusal(() => db.delete('book', { id: 1 }))).toBe(DELETE_MESSAGE);
    expect(refusal(() => db.delete('book', { id: 1 }, ''))).toBe(DELETE_MESSAGE);
    expect(statSync(file).size).toBeGreaterThan(0);
  });

  test('a Node whose SQLite cannot be asked is not used at all', () => {
    expect(refusal(() => requireAuthorizer(undefined))).toMatch(
      /needs a Node whose SQLite has `setAuthorizer`/,
    );
  });
});

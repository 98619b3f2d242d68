import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { books, clearBooks, open, reachable, refusal, titles } from './fixtures/books.ts';

afterEach(clearBooks);

describe('what steps need', () => {
  test('rows are read, added, changed and upserted, with values in order and by name', () => {
    const { db } = books();

    const added = db.run('INSERT INTO book (title, pages) VALUES (?, ?)', 'Emma', 300);
    db.run('UPDATE book SET pages = :pages WHERE title = :title', { title: 'Emma', pages: 301 });
    db.run('INSERT INTO book (id, title) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET pages = 7', 'x');

    expect(added).toEqual({ changes: 1, lastInsertRowid: 3 });
    expect(db.get('SELECT pages FROM book WHERE title = ?', 'Emma')).toMatchObject({ pages: 301 });
    expect(db.all('SELECT pages FROM book ORDER BY id').map((row) => row.pages)).toEqual([7, 200, 301]);
    expect(db.get('INSERT INTO book (title) VALUES (?) RETURNING id', 'Persuasion')).toMatchObject({ id: 4 });
    expect(db.get('SELECT * FROM book WHERE id = 99')).toBeUndefined();
    expect(db.all('PRAGMA table_info(book)').map((row) => row.name)).toEqual(['id', 'title', 'pages']);
    expect(db.all("SELECT name FROM pragma_table_info('book')")).toHaveLength(3);
    expect(
      db.all('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5) SELECT i FROM n'),
    ).toHaveLength(5);
    expect(db.get("SELECT value FROM json_each('[5]')")).toMatchObject({ value: 5 });
  });

  test('a transaction is all or nothing, and one inside another is undone alone [S3.28]', () => {
    const { db } = books();

    db.transaction(() => {
      db.run("INSERT INTO book (title) VALUES ('kept')");
      expect(() =>
        db.transaction(() => {
          db.run("INSERT INTO book (title) VALUES ('inner')");
          throw new Error('no');
        }),
      ).toThrow('no');
    });
    const outer = () =>
      db.transaction(() => {
        db.run("INSERT INTO book (title) VALUES ('outer')");
        throw new Error('no');
      });

    expect(outer).toThrow('no');
    expect(titles(db)).toEqual(['Dune', 'Ulysses', 'kept']);
  });

  test('a transaction that would wait is undone and refused', async () => {
    const { db } = books();

    const waiting = () =>
      db.transaction(async () => {
        db.run("INSERT INTO book (title) VALUES ('x')");
        throw new Error('unheard');
      });

    expect(waiting).toThrow(/must not be async/);
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test('opened for reading, it takes no write; a file that is not there is not made', () => {
    const { file } = books();
    const db = open(file, { writable: false });

    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
    expect(refusal(() => db.run("INSERT INTO book (title) VALUES ('x')"))).toMatch(/for reading only/);
    expect(db.getDeleteConfirmation('book', { id: 1 }).count).toBe(1);
    expect(() => open(`${file}.none`)).toThrow(expect.objectContaining({ code: 'file_unreadable' }));
    expect(existsSync(`${file}.none`)).toBe(false);
  });

  test('foreign keys hold, and a statement that is only wrong says what SQLite says', () => {
    const { db } = books();

    expect(() => db.run('INSERT INTO note (book) VALUES (99)')).toThrow(/FOREIGN KEY/);
    expect(() => db.get('SELEC 1')).toThrow(/syntax error/);
    expect(() => db.get('SELECT author FROM book')).toThrow(/no such column/);
    expect(refusal(() => db.run('SELECT ?', true as never))).toMatch(/type boolean/);
  });

  test('a search index is kept up to date by its triggers, and written to by nobody else', () => {
    const { db } = books(`
      CREATE VIRTUAL TABLE found USING fts5(title, content='book', content_rowid='id');
      CREATE TRIGGER find_new AFTER INSERT ON book BEGIN
        INSERT INTO found(rowid, title) VALUES (new.id, new.title); END;
      CREATE TRIGGER find_changed AFTER UPDATE ON book BEGIN
        INSERT INTO found(found, rowid, title) VALUES ('delete', old.id, old.title);
        INSERT INTO found(rowid, title) VALUES (new.id, new.title); END;
      INSERT INTO found(found) VALUES ('rebuild');`);

    db.run("INSERT INTO book (title) VALUES ('Middlemarch')");
    db.run("UPDATE book SET title = 'Silas Marner' WHERE title = 'Middlemarch'");

    const hits = (word: string) => db.all('SELECT rowid FROM found WHERE found MATCH ?', word).length;
    expect([hits('Middlemarch'), hits('Silas'), hits('Dune')]).toEqual([0, 1, 1]);
    expect(refusal(() => db.run("INSERT INTO found(found) VALUES ('delete-all')"))).toMatch(/virtual table/);
    expect(refusal(() => db.run('UPDATE found_data SET block = NULL'))).toMatch(/may not be modified/);
    expect(refusal(() => db.run('DELETE FROM found_data'))).toMatch(/may not be modified/);
  });
});

describe('the connection', () => {
  test('is reachable from nothing an author gets [fail.41]', () => {
    const { db } = books();

    expect(Object.isFrozen(db)).toBe(true);
    expect(Object.getPrototypeOf(db)).toBe(Object.prototype);
    expect(Object.getOwnPropertySymbols(db)).toEqual([]);
    expect(reachable(db).filter((value) => value instanceof DatabaseSync)).toEqual([]);
    expect(() => Object.assign(db, { get: () => 1 })).toThrow();
  });

  test('is not handed to methods that were replaced later', () => {
    const { db } = books();
    const caught: unknown[] = [];
    const { prepare, exec } = DatabaseSync.prototype;
    DatabaseSync.prototype.prepare = function spy(this: DatabaseSync, ...words) {
      caught.push(this);
      return Reflect.apply(prepare, this, words);
    };
    DatabaseSync.prototype.exec = function spy(this: DatabaseSync, sql) {
      caught.push(this);
      return Reflect.apply(exec, this, [sql]);
    };

    try {
      db.transaction(() => db.run("INSERT INTO book (title) VALUES ('x')"));
    } finally {
      Object.assign(DatabaseSync.prototype, { prepare, exec });
    }

    expect(caught).toEqual([]);
  });

  test('that another process keeps locked is waited for, not for ever', () => {
    const { file, db } = books();
    const other = new DatabaseSync(file);
    other.exec('BEGIN EXCLUSIVE');

    expect(() => db.run("INSERT INTO book (title) VALUES ('x')")).toThrow(
      expect.objectContaining({ code: 'database_busy' }),
    );
    other.exec('ROLLBACK');
    other.close();
    db.run("INSERT INTO book (title) VALUES ('x')");
    expect(titles(db)).toEqual(['Dune', 'Ulysses', 'x']);
  });
});

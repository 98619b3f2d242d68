import { PhasegateError } from '@phasegate/core';
import { afterEach, describe, expect, test } from 'vitest';
import {
  books,
  clearBooks,
  DELETE_MESSAGE,
  NOW,
  OWN_UPDATE,
  open,
  refusal,
  titles,
} from './fixtures/books.ts';
import type { Where } from './safeDatabase.ts';

afterEach(clearBooks);

describe('a confirmed delete', () => {
  test('removes what was counted, once [S3.73]', () => {
    const { db } = books();
    const { token, count, expiresAt } = db.getDeleteConfirmation('book', { title: 'Dune', pages: 100 });

    expect([count, expiresAt]).toEqual([1, new Date(NOW + 300_000).toISOString()]);
    expect(db.delete('book', { title: 'Dune', pages: 100 }, token)).toBe(1);
    expect(titles(db)).toEqual(['Ulysses']);
    expect(refusal(() => db.delete('book', { title: 'Dune', pages: 100 }, token))).toMatch(/used already/);
    expect(refusal(() => db.run('DELETE FROM book'))).toBe(DELETE_MESSAGE);
  });

  test.each<[string, string, Where]>([
    ['another table', 'note', { id: 1 }],
    ['another value', 'book', { id: 2 }],
    ['a value of another type', 'book', { id: '1' }],
    ['another column', 'book', { pages: 1 }],
    ['a condition that says the same', 'book', { sql: 'id = 1', params: [] }],
    ['more columns', 'book', { id: 1, title: 'Dune' }],
  ])('does not serve %s, and is used up by trying [S3.73 fail.41]', (_, table, where) => {
    const { db } = books();
    const { token } = db.getDeleteConfirmation('book', { id: 1 });

    expect(refusal(() => db.delete(table, where, token))).toMatch(/for another delete/);
    expect(refusal(() => db.delete('book', { id: 1 }, token))).toMatch(/used already/);
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test('an altered, foreign or late token is none [S3.73 fail.41]', () => {
    const clock = { now: NOW };
    const { db, file } = books('', clock);
    const { token } = db.getDeleteConfirmation('book', { id: 1 });
    const altered = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;

    expect(refusal(() => db.delete('book', { id: 1 }, altered))).toMatch(/not known/);
    expect(refusal(() => open(file).delete('book', { id: 1 }, token))).toMatch(/not known/);
    clock.now += 300_001;
    expect(refusal(() => db.delete('book', { id: 1 }, token))).toMatch(/expired/);
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test('tokens come from the random bytes given, and never twice', () => {
    const { db } = books();
    const tokens = Array.from({ length: 50 }, () => db.getDeleteConfirmation('book', { id: 1 }).token);

    expect(new Set(tokens).size).toBe(50);
    expect(tokens.every((token) => Buffer.from(token, 'base64url').length === 32)).toBe(true);
  });

  test('deletes nothing when other rows match by now', () => {
    const { db } = books();
    const where = { sql: 'pages > ?', params: [50] };
    const { token, count } = db.getDeleteConfirmation('book', where);
    db.run("INSERT INTO book (title, pages) VALUES ('Emma', 300)");

    expect(count).toBe(2);
    expect(refusal(() => db.delete('book', where, token))).toMatch(
      /2 rows were confirmed, and 3 would go now/,
    );
    expect(titles(db)).toEqual(['Dune', 'Ulysses', 'Emma']);
  });

  test('needs a condition, a table and values SQLite knows', () => {
    const { db } = books();
    const none = [{}, { sql: '', params: [] }, { sql: ' ', params: [] }, null, []] as unknown as Where[];

    for (const where of none)
      expect(refusal(() => db.getDeleteConfirmation('book', where))).toMatch(/needs a condition/);
    for (const table of ['nothing', 'long_book', 'sqlite_master', 'book"; DROP TABLE book; --'])
      expect(refusal(() => db.getDeleteConfirmation(table, { id: 1 }))).toMatch(/there is no table/);
    expect(() => db.getDeleteConfirmation('book', { 'id" IS 1 OR "id': 1 })).toThrow(/no such column/);
    expect(() => db.getDeleteConfirmation('book', { titel: 'titel' })).toThrow(/no such column/);
    expect(refusal(() => db.getDeleteConfirmation('book', { id: {} as never }))).toMatch(/cannot be bound/);
  });

  test.each(['true; DROP TABLE book', 'true) ; DELETE FROM note WHERE (1', 'true -- x', 'true /* x'])(
    'a condition cannot bring a statement of its own: %s',
    (sql) => {
      const { db } = books();
      const where = { sql, params: [] };

      try {
        db.delete('book', where, db.getDeleteConfirmation('book', where).token);
      } catch {
        // Refused, or not what SQLite understands.
      }
      expect(db.all('SELECT * FROM note')).toHaveLength(1);
      expect(db.get("SELECT 1 AS a FROM sqlite_master WHERE name = 'book'")).toMatchObject({ a: 1 });
    },
  );

  test('takes nothing with it: no trigger, no cascade, not even within its own table', () => {
    const { db } = books(`
      CREATE TABLE page (book REFERENCES book ON DELETE CASCADE);
      INSERT INTO page VALUES (2);
      CREATE TABLE part (id INTEGER PRIMARY KEY, whole REFERENCES part ON DELETE CASCADE);
      INSERT INTO part VALUES (1, NULL), (2, 1);
      CREATE TABLE shelf (id INTEGER PRIMARY KEY);
      INSERT INTO shelf VALUES (1), (2);
      CREATE TRIGGER clear AFTER DELETE ON shelf BEGIN DELETE FROM note; END;`);
    const tryDelete = (table: string, where: Where) => () =>
      db.delete(table, where, db.getDeleteConfirmation(table, where).token);

    expect(refusal(tryDelete('book', { id: 2 }))).toMatch(/a foreign key delete from `page`/);
    expect(refusal(tryDelete('part', { id: 1 }))).toMatch(/a foreign key delete from `part`/);
    expect(refusal(tryDelete('shelf', { id: 1 }))).toMatch(/the trigger `clear` delete from `note`/);
    expect(
      ['book', 'page', 'part', 'shelf', 'note'].map((table) => db.all(`SELECT * FROM ${table}`).length),
    ).toEqual([2, 1, 2, 2, 1]);
  });

  test('code that gets a word in while it is being made is still refused', () => {
    const { db } = books();
    const tried: unknown[] = [];
    const attack = () => {
      for (const sql of ['DELETE FROM book', 'DELETE FROM note']) {
        try {
          db.run(sql);
          tried.push('went through');
        } catch (error) {
          tried.push(error instanceof PhasegateError && error.message);
        }
      }
      return 1;
    };
    const where = () => Object.defineProperty({}, 'id', { enumerable: true, get: attack }) as Where;

    const { token } = db.getDeleteConfirmation('book', where());
    const deleted = db.delete('book', where(), token);

    expect(deleted).toBe(1);
    expect(tried).toEqual(Array(4).fill(DELETE_MESSAGE));
    expect(titles(db)).toEqual(['Ulysses']);
    expect(db.all('SELECT * FROM note')).toHaveLength(1);
  });

  test('a value that changes after it was confirmed is another value', () => {
    const { db } = books();
    let asked = 0;
    const where = Object.defineProperty({}, 'id', { enumerable: true, get: () => ++asked }) as Where;

    const { token } = db.getDeleteConfirmation('book', where);

    expect(refusal(() => db.delete('book', where, token))).toMatch(/for another delete/);
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });

  test('leaves no statement behind that deletes, and none that was refused is remembered', () => {
    const { db } = books(OWN_UPDATE);
    const text = 'DELETE FROM main."book" WHERE ("book"."id" IS ?\n)';
    expect(refusal(() => db.run(text, 1))).toBe(DELETE_MESSAGE);
    db.delete('book', { id: 1 }, db.getDeleteConfirmation('book', { id: 1 }).token);

    expect(refusal(() => db.run(text, 2))).toBe(DELETE_MESSAGE);
    for (let number = 0; number < 120; number += 1)
      db.run(`INSERT INTO book (title) VALUES ('${number % 60}') ON CONFLICT DO NOTHING`);
    expect(refusal(() => db.run(text, 2))).toBe(DELETE_MESSAGE);
    expect(titles(db)).toHaveLength(61);
  });

  test('is undone with the transaction around it', () => {
    const { db } = books();
    const { token } = db.getDeleteConfirmation('book', { id: 1 });

    expect(() =>
      db.transaction(() => {
        db.delete('book', { id: 1 }, token);
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(titles(db)).toEqual(['Dune', 'Ulysses']);
  });
});

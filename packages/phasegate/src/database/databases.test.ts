import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { clearBeds, DATABASE, makeBed, titlesIn, WORK } from './fixtures/makeBed.ts';

afterEach(clearBeds);

describe('a backup', () => {
  test.each(['delete', 'wal'])(
    'is made beside a database in use, in %s mode, and named by the time [S3.68]',
    async (mode) => {
      const bed = makeBed(mode);
      const writer = bed.open();
      writer.exec("BEGIN IMMEDIATE; INSERT INTO book (title) VALUES ('not committed')");

      const backup = await bed.databases.backup('r1', DATABASE);

      expect(backup).toEqual({
        id: 'id-1',
        createdAt: '2026-01-01T00:00:00.000Z',
        path: join(bed.data, 'backups', 'project-20260101T000000000Z.db'),
        run: 'r1',
        sizeBytes: statSync(backup.path).size,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(titlesIn(backup.path)).toEqual(['Dune']);
      expect(bed.backups()).toHaveLength(1);
    },
  );

  test('is one of so many; the oldest go, and what is not a backup stays [S3.68]', async () => {
    const bed = makeBed();
    mkdirSync(join(bed.data, 'backups'));
    for (const name of [
      'project-2025.db',
      'project-conflict-20200101T000000000Z.db',
      'other-20200101T000000000Z.db',
    ])
      writeFileSync(join(bed.data, 'backups', name), '');

    for (let made = 0; made < 5; made += 1) await bed.databases.backup('r1', DATABASE);
    bed.clock.now += 1000;
    const newest = await bed.databases.backup('r1', DATABASE);

    expect(bed.backups()).toEqual([
      'other-20200101T000000000Z.db',
      'project-2025.db',
      'project-20260101T000000000Z-4.db',
      'project-20260101T000000000Z-5.db',
      'project-20260101T000001000Z.db',
      'project-conflict-20200101T000000000Z.db',
    ]);
    expect(titlesIn(newest.path)).toEqual(['Dune']);
    const only = await bed.databases.backup('r1', { ...DATABASE, keep: 0 });
    expect(existsSync(only.path)).toBe(true);
  });

  test.each(['delete', 'wal'])('is put back, after what is there was backed up, in %s mode', async (mode) => {
    const bed = makeBed(mode);
    const backup = await bed.databases.backup('r1', { ...DATABASE, keep: 1 });
    await bed.step('Emma');

    const before = await bed.databases.restore(backup, { ...DATABASE, keep: 1 });

    expect(bed.titles()).toEqual(['Dune']);
    expect(bed.journal()).toBe(mode);
    expect(titlesIn(before.path)).toEqual(['Dune', 'Emma']);
    expect(before.run).toBeNull();
    await bed.databases.restore(before, DATABASE);
    expect(bed.titles()).toEqual(['Dune', 'Emma']);
  });

  test('replaces a database that is gone or damaged, which is kept; a damaged backup is refused', async () => {
    const bed = makeBed();
    const backup = await bed.databases.backup('r1', DATABASE);
    rmSync(bed.file);
    await bed.databases.restore(backup, DATABASE);
    expect(bed.titles()).toEqual(['Dune']);

    writeFileSync(bed.file, 'damaged '.repeat(1000));
    const damaged = await bed.databases.restore(backup, DATABASE);
    expect(bed.titles()).toEqual(['Dune']);
    expect(readFileSync(damaged.path, 'utf8')).toMatch(/^damaged /);
    await expect(bed.databases.restore(damaged, DATABASE)).rejects.toMatchObject({ code: 'file_unreadable' });
    await expect(
      bed.databases.restore({ ...backup, path: `${backup.path}.no` }, DATABASE),
    ).rejects.toMatchObject({
      code: 'file_unreadable',
    });
    expect(bed.titles()).toEqual(['Dune']);
  });
});

describe('migrations', () => {
  test('make the database, in order, once each, and are recorded [S3.74]', async () => {
    const bed = makeBed();
    const files = {
      '0001-books.sql': 'CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT); CREATE TABLE x (a)',
    };
    const database = bed.migrations(files, 'new/fresh.db');

    expect(await bed.databases.migrate(database)).toEqual(['0001-books.sql']);
    bed.migrations({
      '0002-no-x.sql': 'DROP TABLE x; ALTER TABLE book ADD COLUMN pages; PRAGMA user_version=2',
      'notes.txt': 'x',
    });
    expect(await bed.databases.migrate(database)).toEqual(['0002-no-x.sql']);
    expect(await bed.databases.migrate(database)).toEqual([]);

    const fresh = new DatabaseSync(join(bed.root, 'new/fresh.db'));
    expect(
      fresh
        .prepare('SELECT number, name, length(sha256) AS hash, applied_at FROM phasegate_migrations')
        .all(),
    ).toEqual([
      expect.objectContaining({
        number: 1,
        name: '0001-books.sql',
        hash: 64,
        applied_at: '2026-01-01T00:00:00.000Z',
      }),
      expect.objectContaining({ number: 2, name: '0002-no-x.sql' }),
    ]);
    expect(fresh.prepare("SELECT name FROM pragma_table_info('book')").all()).toHaveLength(3);
    fresh.close();
    const attempt = await bed.databases.begin({ ...WORK, database });
    await attempt.discard();
  });

  test('make a database that is not there when it is needed', async () => {
    const bed = makeBed();
    const database = bed.migrations(
      { '0001-books.sql': 'CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)' },
      'data/new.db',
    );

    const backup = await bed.databases.backup('r1', database);
    expect(backup.path).toMatch(/new-\d+T\d+Z\.db$/);
    const attempt = await bed.databases.begin({ ...WORK, database });
    expect(titlesIn(attempt.file)).toEqual([]);
    await attempt.discard();
  });

  test('that were applied stay as they were [S3.74]', async () => {
    const bed = makeBed();
    const database = bed.migrations({
      '0001-a.sql': 'CREATE TABLE a (a)',
      '0002-b.sql': 'CREATE TABLE b (b)',
    });
    await bed.databases.migrate(database);

    bed.migrations({ '0001-a.sql': 'CREATE TABLE a (a, more)' });
    await expect(bed.databases.migrate(database)).rejects.toMatchObject({
      code: 'database_refused',
      message: 'the migration `0001-a.sql` was changed after it was applied',
    });
    bed.migrations({ '0001-a.sql': 'CREATE TABLE a (a)' });
    renameSync(join(bed.root, 'migrations/0002-b.sql'), join(bed.root, 'migrations/0002-c.sql'));
    await expect(bed.databases.migrate(database)).rejects.toThrow(/is now called `0002-c.sql`/);
    rmSync(join(bed.root, 'migrations/0002-c.sql'));
    await expect(bed.databases.migrate(database)).rejects.toThrow(
      /`0002-b.sql` was applied and is not there any more/,
    );
  });

  test.each([
    [{ '0002-b.sql': '' }, /should be number 1/],
    [{ '0001-a.sql': '', '0003-c.sql': '' }, /should be number 2/],
    [{ '0001-a.sql': '', '0001-b.sql': '' }, /should be number 2/],
    [{ 'books.sql': '' }, /has no number/],
  ])('are numbered without gaps: %o [S3.74]', async (files, message) => {
    const bed = makeBed();

    await expect(bed.databases.migrate(bed.migrations(files))).rejects.toThrow(message);
  });

  test.each([
    ["CREATE TABLE x (a); ATTACH 'other.db' AS other", /reach other files/],
    ['CREATE TABLE x (a); COMMIT', /transaction already/],
    ['CREATE TABLE x (a); PRAGMA writable_schema=ON', /PRAGMA writable_schema/],
    ["CREATE TABLE x (a); VACUUM INTO 'x.db'", /VACUUM/],
    ["CREATE TABLE x (a); SELECT load_extension('x')", /load_extension/],
    ['CREATE TABLE x (a); DELETE FROM phasegate_migrations', /kept by Phasegate/],
    ['CREATE TABLE x (a); DROP TABLE phasegate_migrations', /kept by Phasegate/],
    ['CREATE TABLE x (a); ALTER TABLE phasegate_migrations RENAME TO y', /kept by Phasegate/],
    ['CREATE TABLE x (a); SELECT wrong', /no such column/],
    [
      'CREATE TABLE x (a); CREATE TABLE y (b REFERENCES book (id)); INSERT INTO y VALUES (99)',
      /refer to rows/,
    ],
  ])('are applied whole or not at all: %s [S3.74]', async (text, message) => {
    const bed = makeBed();

    await expect(bed.databases.migrate(bed.migrations({ '0001-x.sql': text }))).rejects.toMatchObject({
      code: 'database_refused',
      message: expect.stringMatching(message),
    });

    expect(bed.titles()).toEqual(['Dune']);
    expect(
      bed.open().prepare("SELECT name FROM sqlite_master WHERE name IN ('x', 'y', 'other')").all(),
    ).toEqual([]);
    expect(bed.open().prepare('SELECT * FROM phasegate_migrations').all()).toEqual([]);
  });

  test('may make a search index and rebuild a table that others refer to', async () => {
    const bed = makeBed();
    const database = bed.migrations({
      '0001-notes.sql':
        'CREATE TABLE note (book REFERENCES book (id) ON DELETE CASCADE); INSERT INTO note VALUES (1)',
      '0002-search.sql': "CREATE VIRTUAL TABLE found USING fts5(title); INSERT INTO found VALUES ('Dune')",
      '0003-rebuild.sql':
        'CREATE TABLE new_book (id INTEGER PRIMARY KEY, title TEXT NOT NULL); INSERT INTO new_book SELECT * FROM book; DROP TABLE book; ALTER TABLE new_book RENAME TO book',
    });

    expect(await bed.databases.migrate(database)).toHaveLength(3);

    expect(bed.titles()).toEqual(['Dune']);
    expect(bed.open().prepare('SELECT * FROM note').all()).toHaveLength(1);
  });
});

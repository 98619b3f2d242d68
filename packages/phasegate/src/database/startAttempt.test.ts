import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { someOf } from '../../../../test/tier.ts';
import {
  clearBeds,
  DATABASE,
  MARK,
  makeBed,
  replaceByLink,
  sql,
  titlesIn,
  WORK,
  write,
} from './fixtures/makeBed.ts';

afterEach(clearBeds);

const JOURNALS = someOf(['delete', 'wal'], { quick: 1, full: 2 });
describe.each(JOURNALS)('an attempt at a database in %s mode', (journal) => {
  test('works on a copy, which takes the database’s place when it is accepted [C22 S3.75]', async () => {
    const bed = makeBed(journal);
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');

    expect(bed.titles()).toEqual(['Dune']);
    await attempt.prepare(MARK);
    expect(bed.titles()).toEqual(['Dune']);
    await attempt.install();

    expect(bed.titles()).toEqual(['Dune', 'Emma']);
    expect(bed.journal()).toBe(journal);
    expect(bed.leftovers()).toEqual([]);
    await attempt.discard();
    expect(bed.titles()).toEqual(['Dune', 'Emma']);
  });

  test('leaves nothing when it is not accepted, before or after it was prepared [C22 S3.75 fail.42]', async () => {
    const bed = makeBed(journal);
    for (const prepared of [false, true]) {
      const attempt = await bed.databases.begin(WORK);
      write(attempt, 'Emma');
      if (prepared) await attempt.prepare(MARK);
      await attempt.discard();
      await attempt.discard();
    }

    expect(bed.titles()).toEqual(['Dune']);
    expect(bed.leftovers()).toEqual([]);
  });

  test('is seen by a connection that was open all the time', async () => {
    const bed = makeBed(journal);
    const reader = bed.open();
    const titles = reader.prepare('SELECT title FROM book ORDER BY id');
    expect(titles.all()).toHaveLength(1);

    await bed.step('Emma');

    expect(titles.all()).toHaveLength(2);
    expect(bed.titles()).toEqual(['Dune', 'Emma']);
  });

  test('is refused, before anything is saved, when someone else wrote meanwhile', async () => {
    const bed = makeBed(journal);
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');
    bed.foreignWrite('Persuasion');

    await expect(attempt.prepare(MARK)).rejects.toMatchObject({ code: 'database_changed' });
    await attempt.discard();

    expect(bed.titles()).toEqual(['Dune', 'Persuasion']);
    expect(bed.leftovers()).toEqual([]);
    await bed.step('Emma');
    expect(bed.titles()).toEqual(['Dune', 'Persuasion', 'Emma']);
  });

  test('keeps others from writing between prepare and install', async () => {
    const bed = makeBed(journal);
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');
    await attempt.prepare(MARK);

    expect(() => bed.foreignWrite('Persuasion')).toThrow(/locked/);
    await attempt.install();
    bed.foreignWrite('Persuasion');
    expect(bed.titles()).toEqual(['Dune', 'Emma', 'Persuasion']);
  });

  test.each(['begun', 'sealed', 'prepared'])('that died when %s is forgotten [C22]', async (point) => {
    const bed = makeBed(journal);
    bed.killed('Emma', point);

    await bed.databases.recover(bed.load);

    expect(bed.titles()).toEqual(['Dune']);
    expect(bed.leftovers()).toEqual([]);
  });

  test.each([['saved'], ['saved', 'installing'], ['saved', 'installing', 'installing'], ['installed']])(
    'that died when %s %s is finished, once [C22]',
    async (...points) => {
      const bed = makeBed(journal);
      for (const point of points) bed.killed('Emma', point);
      expect(bed.titles()).toEqual(points[0] === 'installed' ? ['Dune', 'Emma'] : ['Dune']);

      await bed.databases.recover(bed.load);
      await bed.databases.recover(bed.load);

      expect(bed.titles()).toEqual(['Dune', 'Emma']);
      expect(bed.journal()).toBe(journal);
      expect(bed.leftovers()).toEqual([]);
    },
  );

  test('that was installed but not cleared away is not installed over later work', async () => {
    const bed = makeBed(journal);
    bed.killed('Emma', 'saved');
    const [folder = ''] = readdirSync(join(bed.stateDir, 'attempts'));
    const kept = join(bed.folder, 'kept');
    spawnSync('cp', ['-r', join(bed.stateDir, 'attempts', folder), kept]);
    await bed.databases.recover(bed.load);
    rmSync(join(bed.stateDir, 'attempts', folder), { recursive: true });
    renameSync(kept, join(bed.stateDir, 'attempts', folder));

    await bed.databases.recover(bed.load);

    expect(bed.titles()).toEqual(['Dune', 'Emma']);
    expect(bed.leftovers()).toEqual([]);
  });

  test('that was accepted and is in conflict with another’s write loses neither', async () => {
    const bed = makeBed(journal);
    bed.killed('Emma', 'saved');
    bed.foreignWrite('Persuasion');

    await expect(bed.databases.recover(bed.load)).rejects.toMatchObject({ code: 'database_changed' });

    expect(bed.titles()).toEqual(['Dune', 'Persuasion']);
    const [kept = ''] = bed.backups();
    expect(kept).toMatch(/^project-conflict-\d{8}T\d{9}Z\.db$/);
    expect(titlesIn(join(bed.data, 'backups', kept))).toEqual(['Dune', 'Emma']);
    expect(bed.leftovers()).toEqual([]);
    await bed.databases.recover(bed.load);
  });
});

describe('an attempt', () => {
  test('comes after the one another process is at, which nobody recovers meanwhile [C22]', async () => {
    const bed = makeBed();
    const other = await bed.waiting('Emma', 'prepared');
    const impatient = bed.again({ busyMs: 30 });

    await impatient.recover(async () => ({ status: 'completed', epoch: 9, completions: [] }) as never);
    await expect(impatient.begin(WORK)).rejects.toMatchObject({ code: 'database_busy' });
    expect(bed.titles()).toEqual(['Dune']);
    const patient = bed.again({ busyMs: 20_000 }).begin(WORK);
    await other.goOn();
    const attempt = await patient;

    expect(titlesIn(attempt.file)).toEqual(['Dune', 'Emma']);
    await attempt.discard();
  });

  test('waits for its turn in one process too, and until its signal says otherwise', async () => {
    const bed = makeBed();
    const first = await bed.databases.begin(WORK);
    const giveUp = new AbortController();
    const late = bed.databases.begin({ ...WORK, signal: giveUp.signal });
    const second = bed.databases.begin(WORK);
    giveUp.abort(new Error('enough'));

    await expect(late).rejects.toThrow();
    write(first, 'Emma');
    await first.prepare(MARK);
    await first.install();
    const attempt = await second;
    expect(titlesIn(attempt.file)).toEqual(['Dune', 'Emma']);
    await attempt.discard();
  });

  test('settles what a crash left before it starts, or does not start', async () => {
    const bed = makeBed();
    bed.killed('Emma', 'saved');

    await expect(bed.databases.begin(WORK)).rejects.toMatchObject({ code: 'database_busy' });
    await bed.databases.recover(bed.load);
    bed.killed('Persuasion', 'saved');
    const attempt = await bed.databases.begin(WORK);

    expect(titlesIn(attempt.file)).toEqual(['Dune', 'Emma', 'Persuasion']);
    await attempt.discard();
  });

  test('waits, not for ever, for a program that locks the database; nothing is lost', async () => {
    const bed = makeBed();
    const impatient = bed.again({ busyMs: 30 });
    const other = bed.open();
    other.exec('BEGIN EXCLUSIVE');
    await expect(impatient.begin(WORK)).rejects.toMatchObject({ code: 'database_busy' });
    other.exec('ROLLBACK');

    const attempt = await impatient.begin(WORK);
    write(attempt, 'Emma');
    other.exec('BEGIN IMMEDIATE');
    await expect(attempt.prepare(MARK)).rejects.toMatchObject({ code: 'database_busy' });
    other.exec('ROLLBACK');
    await attempt.prepare(MARK);
    const { hash } = await attempt.seal();
    other.exec('BEGIN');
    other.prepare('SELECT * FROM book').all();
    await expect(attempt.install()).rejects.toMatchObject({ code: 'database_busy' });
    await attempt.discard();
    other.exec('ROLLBACK');

    expect(bed.titles()).toEqual(['Dune']);
    await impatient.recover(async () => bed.runWith({ completions: [{ database: hash }] }));
    expect(bed.titles()).toEqual(['Dune', 'Emma']);
  });

  test('that is overtaken by another’s write while it waits to be installed loses neither', async () => {
    const bed = makeBed();
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');
    await attempt.prepare(MARK);
    const other = bed.open();
    other.exec('PRAGMA busy_timeout=5000; BEGIN');
    other.prepare('SELECT * FROM book').all();

    const installing = attempt.install();
    other.exec("INSERT INTO book (title) VALUES ('Persuasion'); COMMIT");

    await expect(installing).rejects.toMatchObject({ code: 'database_changed' });
    expect(bed.titles()).toEqual(['Dune', 'Persuasion']);
    expect(titlesIn(join(bed.data, 'backups', bed.backups()[0] ?? ''))).toEqual(['Dune', 'Emma']);
    expect(bed.leftovers()).toEqual([]);
  });

  test('that wrote nothing is in nobody’s way', async () => {
    const bed = makeBed();
    const attempt = await bed.databases.begin(WORK);
    bed.foreignWrite('Persuasion');
    await attempt.prepare(MARK);
    await attempt.install();

    expect(bed.titles()).toEqual(['Dune', 'Persuasion']);
    expect(bed.leftovers()).toEqual([]);
  });

  test('is prepared anew when the run had changed, with what was sealed and nothing that came later', async () => {
    const bed = makeBed();
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');
    await attempt.prepare(MARK);
    write(attempt, 'Persuasion');
    await attempt.prepare({ ...MARK, epoch: 2 });
    await attempt.install();

    expect(bed.titles()).toEqual(['Dune', 'Emma']);
    expect(bed.leftovers()).toEqual([]);
  });

  test('that leaves no sound database, or another schema, is refused [S3.74]', async () => {
    const bed = makeBed();
    const damage: readonly [(file: string) => void, RegExp][] = [
      [(file) => sql(file, 'CREATE TABLE x (a)'), /changed the schema/],
      [(file) => sql(file, 'DROP TABLE book'), /changed the schema/],
      [
        (file) => writeFileSync(file, 'not a database at all, but long enough to be looked at'.repeat(50)),
        /not a database/,
      ],
      [(file) => rmSync(file), /removed its copy/],
      [replaceByLink, /removed its copy/],
    ];
    for (const [harm, message] of damage) {
      const attempt = await bed.databases.begin(WORK);
      harm(attempt.file);
      await expect(attempt.prepare(MARK)).rejects.toThrow(message);
      await attempt.discard();
    }

    expect(bed.titles()).toEqual(['Dune']);
    await bed.step('Emma');
    expect(bed.leftovers()).toEqual([]);
  });

  test('notices a database that was replaced by another file', async () => {
    const bed = makeBed();
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');
    spawnSync('cp', [bed.file, `${bed.file}.new`]);
    renameSync(`${bed.file}.new`, bed.file);

    await expect(attempt.prepare(MARK)).rejects.toMatchObject({ code: 'database_changed' });
    await attempt.discard();
  });

  test('of a copy the step left in WAL mode is whole', async () => {
    const bed = makeBed();
    const attempt = await bed.databases.begin(WORK);
    sql(attempt.file, "PRAGMA journal_mode=WAL; INSERT INTO book (title) VALUES ('Emma')");
    const stillOpen = new DatabaseSync(attempt.file);
    stillOpen.exec("INSERT INTO book (title) VALUES ('Persuasion')");
    await attempt.prepare(MARK);
    stillOpen.exec("INSERT INTO book (title) VALUES ('too late')");
    await attempt.install();
    stillOpen.close();

    expect(bed.titles()).toEqual(['Dune', 'Emma', 'Persuasion']);
    expect(bed.journal()).toBe('delete');
  });

  test('works on the project’s database only, and on one that is there', async () => {
    const bed = makeBed();
    const at = (file: string) => bed.databases.begin({ ...WORK, database: { ...DATABASE, file } });
    symlinkSync(bed.file, join(bed.data, 'link.db'));

    await expect(at('../outside.db')).rejects.toMatchObject({ code: 'path_outside' });
    await expect(at('/etc/hosts')).rejects.toMatchObject({ code: 'path_outside' });
    await expect(at('data/link.db')).rejects.toMatchObject({ code: 'path_outside' });
    await expect(at('data/none.db')).rejects.toMatchObject({ code: 'file_unreadable', hint: /migrations/ });
    await expect(at('data')).rejects.toMatchObject({ code: 'file_unreadable' });
    writeFileSync(join(bed.data, 'text.db'), 'no database'.repeat(100));
    await expect(at('data/text.db')).rejects.toMatchObject({ code: 'file_unreadable' });
    expect(existsSync(join(bed.data, 'none.db'))).toBe(false);
  });

  test.each([
    ['went on', { epoch: 2, completions: [{}] }, true],
    ['was only claimed by another', { epoch: 2 }, false],
    ['stayed', {}, false],
    ['waits at a gate', { status: 'waiting', wait: { for: 'gate', gate: 'ship#1' } }, true],
    ['was decided about', { epoch: 2, decisions: [{ gate: 'ship#1' }] }, true],
    ['asks questions', { status: 'waiting', wait: { for: 'questions' } }, false],
    ['is not there', null, false],
  ])(
    'of an earlier version, of a run that %s, is taken for what it was then',
    async (_, change, accepted) => {
      const bed = makeBed();
      bed.killed('Emma', 'prepared');
      bed.asEarlierVersion();

      await bed.databases.recover(async () => (change === null ? undefined : bed.runWith(change)));

      expect(bed.titles()).toEqual(accepted ? ['Dune', 'Emma'] : ['Dune']);
      expect(bed.leftovers()).toEqual([]);
    },
  );

  test.each<[string, (hash: string) => object | null, 'installed' | 'kept' | 'dropped']>([
    ['went on with it', (database) => ({ completions: [{ database }] }), 'installed'],
    ['went on without it', () => ({ epoch: 2, completions: [{}] }), 'dropped'],
    ['had its bytes before', (database) => ({ mark: 1, completions: [{ database }] }), 'dropped'],
    ['stayed', () => ({}), 'dropped'],
    [
      'waits for the decision',
      (database) => ({ status: 'waiting', wait: { for: 'gate', database } }),
      'kept',
    ],
    ['waits for another', () => ({ status: 'waiting', wait: { for: 'gate', database: 'b' } }), 'dropped'],
    ['waits for none', () => ({ status: 'waiting', wait: { for: 'gate' } }), 'dropped'],
    ['was rejected', () => ({ decisions: [{ gate: 'ship#1' }], completions: [{}] }), 'dropped'],
    ['was stopped', () => ({ status: 'stopped', phase: null }), 'dropped'],
    ['is not there', () => null, 'dropped'],
  ])('of a run that %s is taken for what it is after a crash [adv.N7]', async (_, changed, fate) => {
    const bed = makeBed();
    await bed.left('Emma');
    const { sealed, id } = bed.onlyRecord();
    const { mark, ...change } = { mark: 0, ...changed(sealed) };
    if (mark > 0) bed.changeRecord({ mark: { run: 'r1', epoch: 1, item: null, completions: mark } });
    const load = async () => (changed(sealed) === null ? undefined : bed.runWith(change));

    await bed.databases.recover(load);
    await bed.databases.recover(load);

    expect(bed.titles()).toEqual(fate === 'installed' ? ['Dune', 'Emma'] : ['Dune']);
    const kept = [`${id}.json`, `${id}.ready`].map((name) => expect.stringContaining(name));
    expect(bed.leftovers().sort()).toEqual(fate === 'kept' ? kept : []);
  });

  test.each([
    ['is done with it', (database: string) => ({ status: 'completed', database }), true],
    ['is done without it', () => ({ status: 'completed' }), false],
    ['is open', () => ({ status: 'pending' }), false],
  ])('at an item that %s is taken for what it is after a crash', async (_, item, accepted) => {
    const bed = makeBed();
    await bed.left('Emma');
    const { sealed } = bed.onlyRecord();
    bed.changeRecord({ mark: { run: 'r1', epoch: 1, item: 'a', completions: 0 } });

    await bed.databases.recover(async () => bed.runWith({ work: { items: { a: item(sealed) } } }));

    expect(bed.titles()).toEqual(accepted ? ['Dune', 'Emma'] : ['Dune']);
    expect(bed.leftovers()).toEqual([]);
  });
});

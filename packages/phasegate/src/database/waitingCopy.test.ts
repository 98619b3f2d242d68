import { spawnSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Run } from '@phasegate/core';
import { afterEach, describe, expect, test } from 'vitest';
import { clearBeds, DATABASE, MARK, makeBed, sql, titlesIn, WORK, write } from './fixtures/makeBed.ts';

afterEach(clearBeds);

/** A step that wrote a book, and whose gate is open. */
async function openGate(journal = 'delete') {
  const bed = makeBed(journal);
  let run: Run = bed.runWith({});
  await bed.databases.recover(async () => run);
  await bed.left('Emma');
  const { sealed: hash } = bed.onlyRecord();
  run = bed.runWith({ status: 'waiting', wait: { for: 'gate', gate: 'ship#1', database: hash } });
  const at = { run: 'r1', database: DATABASE, hash };
  return {
    ...bed,
    at,
    waiting: async () => (await bed.databases.waiting(at)) ?? expect.fail('nothing waits'),
    saved(change: object) {
      run = bed.runWith(change);
    },
  };
}

describe.each(['delete', 'wal'])('a sealed copy of a database in %s mode', (journal) => {
  test('waits, and is in nobody’s way, until it is installed as it was sealed [C35 adv.N7]', async () => {
    const bed = await openGate(journal);
    expect(bed.titles()).toEqual(['Dune']);

    const copy = await bed.waiting();
    expect(titlesIn(copy.file)).toEqual(['Dune', 'Emma']);
    await copy.prepare(MARK);
    expect(() => bed.foreignWrite('Persuasion')).toThrow(/locked/);
    await copy.install();

    expect(bed.titles()).toEqual(['Dune', 'Emma']);
    expect(bed.journal()).toBe(journal);
    expect(bed.leftovers()).toEqual([]);
    expect(await bed.databases.waiting(bed.at)).toBeNull();
  });

  test('is not installed where the database moved, and theirs stays [adv.N7]', async () => {
    const bed = await openGate(journal);
    bed.foreignWrite('Persuasion');

    const copy = await bed.waiting();
    await expect(copy.prepare(MARK)).rejects.toMatchObject({ code: 'database_changed' });
    await bed.databases.drop(bed.at);

    expect(bed.titles()).toEqual(['Dune', 'Persuasion']);
    expect(bed.leftovers()).toEqual([]);
    await bed.step('Emma');
    expect(bed.titles()).toEqual(['Dune', 'Persuasion', 'Emma']);
  });
});

describe('a process that is killed', () => {
  test.each(['gate opened', 'gate left open', 'gate prepared'])(
    'with the %s leaves a copy that waits, and is installed once it is approved [C35 adv.N7]',
    async (point) => {
      const bed = makeBed();
      bed.killed('Emma', point);
      await bed.databases.recover(bed.load);
      expect(bed.titles()).toEqual(['Dune']);

      const at = { run: 'r1', database: DATABASE, hash: bed.onlyRecord().sealed };
      const copy = (await bed.databases.waiting(at)) ?? expect.fail('nothing waits');
      await copy.prepare(MARK);
      await copy.install();

      expect(bed.titles()).toEqual(['Dune', 'Emma']);
      expect(bed.leftovers()).toEqual([]);
    },
  );

  test.each([['gate decided'], ['gate decided', 'installing'], ['gate installed']])(
    'with the %s %s leaves exactly what was approved, once [C35 adv.N7]',
    async (...points) => {
      const bed = makeBed();
      for (const point of points) bed.killed('Emma', point);

      await bed.databases.recover(bed.load);
      await bed.databases.recover(bed.load);

      expect(bed.titles()).toEqual(['Dune', 'Emma']);
      expect(bed.leftovers()).toEqual([]);
    },
  );

  test('after a no was saved and before the copy is dropped leaves nothing [C35 adv.N7]', async () => {
    const bed = makeBed();
    bed.killed('Emma', 'gate prepared');

    await bed.databases.recover(async () => bed.runWith({ epoch: 2, completions: [{}] }));

    expect(bed.titles()).toEqual(['Dune']);
    expect(bed.leftovers()).toEqual([]);
  });
});

describe('a sealed copy', () => {
  test('is not what a process left behind has open: emptied after that, it is installed full [adv.N7]', async () => {
    const bed = makeBed();
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');
    const leftBehind = new DatabaseSync(attempt.file);

    const { file, hash } = await attempt.seal();
    leftBehind.exec('DELETE FROM book');
    leftBehind.close();

    expect(file.startsWith(join(attempt.file, '..'))).toBe(false);
    expect(titlesIn(file)).toEqual(['Dune', 'Emma']);
    expect(spawnSync('sha256sum', [file], { encoding: 'utf8' }).stdout.slice(0, 64)).toBe(hash);
    await attempt.prepare(MARK);
    await attempt.install();
    expect(bed.titles()).toEqual(['Dune', 'Emma']);
  });

  test('that somebody changed all the same is not installed, at no moment [adv.N7]', async () => {
    const harm = (file: string) => {
      chmodSync(file, 0o600);
      sql(file, 'DELETE FROM book');
    };
    const bed = makeBed();
    const attempt = await bed.databases.begin(WORK);
    write(attempt, 'Emma');
    harm((await attempt.seal()).file);
    await expect(attempt.prepare(MARK)).rejects.toMatchObject({ code: 'database_refused' });
    await attempt.discard();
    expect(bed.leftovers()).toEqual([]);

    const late = await bed.databases.begin(WORK);
    write(late, 'Emma');
    const { file } = await late.seal();
    await late.prepare(MARK);
    harm(file);
    await expect(late.install()).rejects.toMatchObject({ code: 'database_changed', hint: /backups/ });
    expect(bed.leftovers()).toEqual([]);
    expect(bed.titles()).toEqual(['Dune']);

    const open = await openGate();
    harm((await open.waiting()).file);
    expect(await open.databases.waiting(open.at)).toBeNull();
    open.saved({ completions: [{ database: open.at.hash }] });
    await expect(open.databases.begin(WORK)).rejects.toMatchObject({ code: 'database_changed' });
    expect(open.titles()).toEqual(['Dune']);
    await open.step('Persuasion');
  });

  test('of a database that was replaced, or is gone, is not installed', async () => {
    const bed = await openGate();
    const kept = `${bed.file}.kept`;
    renameSync(bed.file, kept);

    await expect((await bed.waiting()).prepare(MARK)).rejects.toMatchObject({ code: 'database_changed' });
    sql(bed.file, 'CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)');
    await expect((await bed.waiting()).prepare(MARK)).rejects.toMatchObject({ code: 'database_changed' });
    rmSync(bed.file);
    renameSync(kept, bed.file);
    const copy = await bed.waiting();
    await copy.prepare(MARK);
    await copy.install();
    expect(bed.titles()).toEqual(['Dune', 'Emma']);
  });

  test('does not keep other steps from the database, nor is it swept away by them', async () => {
    const bed = await openGate();
    const other = await bed.databases.begin({ ...WORK, run: 'r2' });
    await other.discard();

    expect(titlesIn((await bed.waiting()).file)).toEqual(['Dune', 'Emma']);
    const writing = await bed.databases.begin({ ...WORK, run: 'r2' });
    // A no needs no turn; a yes waits for it, and not for ever.
    const impatient = bed.again({ busyMs: 30 });
    const copy = (await impatient.waiting(bed.at)) ?? expect.fail('nothing waits');
    await expect(copy.prepare(MARK)).rejects.toMatchObject({ code: 'database_busy' });
    await bed.databases.drop(bed.at);
    await bed.databases.drop(bed.at);
    await writing.discard();
    expect(bed.leftovers()).toEqual([]);
    expect(bed.titles()).toEqual(['Dune']);
  });

  test('that was let go of after all waits on', async () => {
    const bed = await openGate();
    const copy = await bed.waiting();
    await copy.prepare(MARK);
    await copy.keep();

    bed.foreignWrite('Persuasion');
    expect(titlesIn((await bed.waiting()).file)).toEqual(['Dune', 'Emma']);
  });
});

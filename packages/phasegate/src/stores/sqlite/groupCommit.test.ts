import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { isOfTheDatabase } from './faults.ts';
import { createGroupCommit, type GroupCommit } from './groupCommit.ts';

let database: DatabaseSync;
let commits: GroupCommit;
/** What is written by the last step of a batch, as the real store does with rows it holds back. */
let heldBack: string[];

beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE words (word TEXT PRIMARY KEY) STRICT');
  heldBack = [];
  commits = createGroupCommit({
    begin: () => database.exec('BEGIN'),
    finish() {
      for (const word of heldBack.splice(0)) insert(word);
    },
    commit: () => database.exec('COMMIT'),
    rollback() {
      heldBack = [];
      if (database.isTransaction) database.exec('ROLLBACK');
    },
    done: () => undefined,
    declined: () => false,
    everybodys: isOfTheDatabase,
    fault: (error) => error as Error,
  });
});

describe('a faulty member of a group', () => {
  test('that throws when it has written half fails alone, and leaves nothing [adv.O1]', async () => {
    const ended = await together(
      () => insert('one'),
      () => {
        insert('half');
        throw new TypeError('a number that JSON cannot hold');
      },
      () => insert('two'),
    );

    expect(ended).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(words()).toEqual(['one', 'two']);
  });

  test('whose last writes fail when nobody can tell whose they are fails alone [adv.O1]', async () => {
    const ended = await together(
      () => heldBack.push('one'),
      () => heldBack.push('one'),
      () => heldBack.push('two'),
    );

    expect(ended).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(words()).toEqual(['one', 'two']);
  });

  test('is not looked for where the database is at fault: everybody is told [adv.O1]', async () => {
    database.exec('DROP TABLE words');

    expect(
      await together(
        () => insert('one'),
        () => insert('two'),
      ),
    ).toEqual(['rejected', 'rejected']);
  });
});

function insert(word: string): void {
  database.prepare('INSERT INTO words VALUES (?)').run(word);
}

function words(): readonly unknown[] {
  return database
    .prepare('SELECT word FROM words ORDER BY word')
    .all()
    .map(({ word }) => word);
}

/** Submits works in one turn, so that they are one batch. */
async function together(...works: readonly (() => unknown)[]): Promise<readonly string[]> {
  const ended = await Promise.allSettled(works.map((work) => commits.submit(work)));
  return ended.map(({ status }) => status);
}

import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { isOfTheDatabase } from './faults.ts';
import { type BatchSteps, createGroupCommit, type GroupCommit } from './groupCommit.ts';

let database: DatabaseSync;
let commits: GroupCommit;
/** What is written by the last step of a batch, as the real store does with rows it holds back. */
let heldBack: string[];
let batches: number;
let clock: number;

beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE words (word TEXT PRIMARY KEY) STRICT');
  heldBack = [];
  batches = 0;
  clock = 0;
  const steps: BatchSteps = {
    begin: () => database.exec('BEGIN'),
    finish() {
      for (const word of heldBack.splice(0)) insert(word);
    },
    commit() {
      database.exec('COMMIT');
      batches += 1;
    },
    rollback() {
      heldBack = [];
      if (database.isTransaction) database.exec('ROLLBACK');
    },
    done: () => undefined,
    declined: () => false,
    everybodys: isOfTheDatabase,
    fault: (error) => error as Error,
  };
  commits = createGroupCommit(steps, () => clock);
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

describe('a batch', () => {
  test('of a lone writer is written after the turn it came in', async () => {
    const written = commits.submit(() => insert('one'));
    await turn();

    expect(batches).toBe(1);
    await written;
  });

  test('among many writers waits for those that are a few turns away, and not for ever [S2.81]', async () => {
    await together(
      () => insert('one'),
      () => insert('two'),
    );
    batches = 0;

    const early = commits.submit(() => insert('three'));
    for (let turns = 0; turns < 3; turns++) await turn();
    const late = commits.submit(() => insert('four'));
    for (let turns = 0; turns < 3; turns++) await turn();
    const last = commits.submit(() => insert('five'));
    await Promise.all([early, late, last]);

    expect(batches).toBe(1);
    expect(words()).toEqual(['five', 'four', 'one', 'three', 'two']);
  });

  test('is written though others come turn after turn, once it has waited long by the clock [adv.O5]', async () => {
    await together(
      () => insert('a'),
      () => insert('b'),
    );
    batches = 0;

    const honest = commits.submit(() => insert('honest'));
    const flood: Promise<unknown>[] = [];
    for (let turns = 0; turns < 6; turns++) {
      // Each of its requests takes so long that the turn does.
      clock += 5;
      flood.push(commits.submit(() => insert(`flood ${turns}`)));
      await turn();
    }

    expect(batches).toBeGreaterThan(1);
    await Promise.all([honest, ...flood]);
    expect(words()).toContain('honest');
  });

  test('of very many writers is written without waiting for more', async () => {
    const all = Array.from({ length: 600 }, (_, number) => commits.submit(() => insert(`word ${number}`)));
    await turn();

    expect(batches).toBe(1);
    await Promise.all(all);
  });
});

/** Until those who came in this turn had theirs. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

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

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import type { Attempt, DatabaseBackup, Databases } from '../runtime/ports.ts';
import { commanded, driveBed, play } from './fixtures/driveBed.ts';

describe('a database', () => {
  test('is backed up once per run, brought up to date, and given to each attempt as a copy [S3.31 C22]', async () => {
    const databases = fakeDatabases();
    const bed = await driveBed(
      [commanded('write', play('tell')), commanded('ship', play('second'))],
      { parts: { databases } },
      { database: { file: 'book.db', migrations: 'migrations' } },
    );

    await bed.drive();
    await bed.drive();

    expect(databases.log).toEqual([
      'backup',
      'migrate',
      ...['begin 1', 'seal 1', 'prepare 1', 'install 1', 'discard 1'],
      ...['begin 2', 'discard 2'],
      ...['begin 3', 'seal 3', 'prepare 3', 'install 3', 'discard 3'],
    ]);
    expect((await bed.load()).completions[0]?.evidence).toMatchObject({ env: { PHASEGATE_DB: '/copies/1' } });
    expect(await bed.open.databaseBackups.list()).toHaveLength(1);
  });

  test('has what an accepted step wrote, and nothing of a failed one [S3.2 S3.75 C22]', async () => {
    const bed = await driveBed(
      [
        commanded('plan', play('insert', 'plan')),
        commanded('write', play('insert', 'write'), {
          postconditions: [
            { check: 'expression', with: { condition: 'result.count > 2' }, message: 'too few' },
          ],
        }),
      ],
      { book: true },
    );

    expect(await bed.drive()).toMatchObject({ outcome: 'escalated', phase: 'write' });

    expect(bed.endings()).toEqual([
      [true, 'goes on with `write`'],
      [false, expect.stringContaining('too few')],
      [false, expect.stringContaining('too few')],
    ]);
    expect(notesIn(bed.root)).toEqual(['plan']);
    expect(await bed.open.databaseBackups.list()).toMatchObject([{ run: bed.run }]);
  });

  test.each([
    ['from the start', 'EXCLUSIVE', []],
    ['when the step begins', 'IMMEDIATE', ['write']],
  ])(
    'that is locked by another process %s ends the driving, counts no attempt, and goes on later',
    async (_, lock, begun) => {
      const bed = await driveBed([commanded('write', play('insert', 'a'))], { book: true });
      const other = new DatabaseSync(join(bed.root, 'book.db'));
      other.exec(`BEGIN ${lock}`);

      const driven = await bed.drive();

      expect(driven).toMatchObject({
        outcome: 'interrupted',
        status: 'active',
        message: expect.stringContaining('book.db'),
      });
      expect(bed.starts().map(([phase]) => phase)).toEqual(begun);
      expect((await bed.load()).work.attempts).toBe(0);
      other.exec('COMMIT');
      other.close();
      expect(await bed.drive()).toMatchObject({ outcome: 'completed' });
      expect(notesIn(bed.root)).toEqual(['a']);
    },
  );

  test('that someone else wrote to meanwhile makes the step begin anew, and not for ever', async () => {
    const databases = fakeDatabases();
    const bed = await driveBed(
      [commanded('write', play('ok'))],
      { parts: { databases } },
      { database: { file: 'book.db' } },
    );
    databases.changed = 2;

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

    expect(databases.log.filter((line) => line.startsWith('begin'))).toHaveLength(3);
  });
});

function notesIn(root: string): readonly unknown[] {
  const database = new DatabaseSync(join(root, 'book.db'));
  try {
    return database
      .prepare('SELECT text FROM notes')
      .all()
      .map(({ text }) => text);
  } finally {
    database.close();
  }
}

/** The port, with a record of who called what; the real one is tested in its own room. */
function fakeDatabases() {
  const log: string[] = [];
  let made = 0;
  const fake = {
    log,
    changed: 0,
    async begin(): Promise<Attempt> {
      made += 1;
      const number = made;
      log.push(`begin ${number}`);
      return {
        file: `/copies/${number}`,
        async seal() {
          log.push(`seal ${number}`);
          return { file: `/sealed/${number}`, hash: String(number) };
        },
        keep: async () => void log.push(`keep ${number}`),
        async prepare() {
          if (fake.changed > 0) {
            fake.changed -= 1;
            throw new PhasegateError('database_changed', 'book.db was written to');
          }
          log.push(`prepare ${number}`);
        },
        install: async () => void log.push(`install ${number}`),
        discard: async () => void log.push(`discard ${number}`),
      };
    },
    waiting: async () => null,
    drop: async () => undefined,
    recover: async () => undefined,
    async backup(run: string): Promise<DatabaseBackup> {
      log.push('backup');
      return { id: 'b1', createdAt: '2026-11-15T12:00:00.000Z', path: '/backups/1.db', run, sizeBytes: 1 };
    },
    restore: () => Promise.reject(new Error('nobody restores here')),
    protect: async () => undefined,
    protection: async () => () => false,
    async migrate() {
      if (!log.includes('migrate')) log.push('migrate');
      return [];
    },
  };
  return fake satisfies Databases;
}

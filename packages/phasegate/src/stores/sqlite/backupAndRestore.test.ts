import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  afterDraft,
  create,
  sampleAgent,
  sampleDraft,
  sampleLease,
  sampleWebhook,
} from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../runtime/ports.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { openSqliteStore } from './openSqliteStore.ts';
import { restoreSqlite } from './restoreSqlite.ts';

let state: StateFolder;
let store: Store;
let copy: string;

beforeEach(async () => {
  state = makeStateFolder();
  copy = join(state.folder, 'copy.db');
  store = state.open();
  await create(store, sampleRun('r1'));
});

afterEach(async () => {
  await store.close();
  state.remove();
});

describe('a backup', () => {
  test('is a whole database, recorded in a table and on the project’s chain [S3.77]', async () => {
    const record = await store.backup(copy);

    expect(record).toMatchObject({ createdAt: '2026-01-01T00:00:00.000Z', path: copy });
    expect(record.sizeBytes).toBe(statSync(copy).size);
    expect(state.read('SELECT * FROM database_backups')).toEqual([
      {
        id: record.id,
        created_at: record.createdAt,
        path: copy,
        workflow_run_id: null,
        size_bytes: record.sizeBytes,
      },
    ]);
    const [, noted] = await store.history(null, { after: 0, limit: 9 });
    expect(noted).toMatchObject({ event: 'database_backed_up', data: { id: record.id, path: copy } });
    expect((await store.verify()).findings).toEqual([]);

    const opened = openSqliteStore({ file: copy, seal: state.seal, now: () => 0 });
    expect(await opened.verify()).toEqual({ ok: true, runs: 1, records: 2, unanchored: 0, findings: [] });
    await opened.close();
  });

  test('is for its owner alone to read, as what it is a copy of', async () => {
    await store.backup(copy);

    expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  test('is consistent although others write while it is taken', async () => {
    const writing = Promise.all(Array.from({ length: 200 }, (_, n) => create(store, sampleRun(`w${n}`))));
    const [record] = await Promise.all([store.backup(copy), writing]);

    const opened = openSqliteStore({ file: record.path, seal: state.seal, now: () => 0 });
    expect((await opened.verify()).findings).toEqual([]);
    await opened.close();
  });

  test('where none can be made, the fault names the file that was asked for', async () => {
    const refused = await store.backup(join(copy, 'not-a-folder.db')).catch((error: unknown) => error);
    writeFileSync(copy, '');
    const below = await store.backup(join(copy, 'below.db')).catch((error: unknown) => error);

    for (const fault of [refused, below]) {
      expect(fault).toMatchObject({ code: 'store_unavailable' });
      expect(String(fault)).not.toContain('.partial');
    }
  });

  test('never overwrites and leaves nothing half-made', async () => {
    writeFileSync(copy, 'precious');
    await expect(store.backup(copy)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(readFileSync(copy, 'utf8')).toBe('precious');

    await expect(store.backup(join(state.folder, 'no', 'such', 'folder.db'))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(readdirSync(state.folder).filter((name) => name.includes('partial'))).toEqual([]);
    expect(state.read('SELECT * FROM database_backups')).toEqual([]);
  });
});

test('a backup has agents, webhooks and leases, which count after a restore', async () => {
  await store.putAgent(sampleAgent('ada', 'key'), [sampleDraft('agent_added')]);
  await store.putWebhook(sampleWebhook('w1'), [sampleDraft('webhook_added')]);
  const leases = [{ put: sampleLease() }];
  await store.save(afterDraft(sampleRun('r1')), 1, [sampleDraft('phase_completed')], { leases });
  const end = await store.feedEnd();
  await store.backup(copy);
  await store.removeAgent('ada', [sampleDraft('agent_removed')]);
  await store.dropLease(sampleLease());
  await store.close();

  restoreSqlite({ from: copy, to: state.file, seal: state.seal });
  store = state.open();
  expect(await store.agents()).toEqual([sampleAgent('ada', 'key')]);
  expect(await store.webhooks()).toEqual([sampleWebhook('w1')]);
  expect(await store.leases()).toEqual([sampleLease()]);
  expect(await store.feedEnd()).toBe(end);
  expect((await store.verify()).findings).toEqual([]);
});

describe('a restore', () => {
  test('puts the backup in place and keeps what was there, each time anew', async () => {
    await store.backup(copy);
    await create(store, sampleRun('r2'));
    await store.close();

    const { kept, version } = restoreSqlite({ from: copy, to: state.file, seal: state.seal });
    expect([kept, version]).toEqual([`${state.file}.before-restore-1`, MIGRATIONS.length]);
    store = state.open();
    expect((await store.list({})).map(({ run }) => run)).toEqual(['r1']);
    expect((await store.verify()).findings).toEqual([]);
    await create(store, sampleRun('r3'));
    await store.close();

    const former = openSqliteStore({ file: kept ?? '', seal: state.seal, now: () => 0 });
    expect((await former.list({})).map(({ run }) => run)).toEqual(['r2', 'r1']);
    await former.close();
    expect(restoreSqlite({ from: kept ?? '', to: state.file }).kept).toBe(`${state.file}.before-restore-2`);
    store = state.open();
    expect((await store.list({})).map(({ run }) => run)).toEqual(['r2', 'r1']);
    expect(statSync(state.file).mode & 0o777).toBe(0o600);
    expect(readdirSync(state.folder).filter((name) => name.includes('restoring'))).toEqual([]);
  });

  test('works where there is no database, and where it is damaged', async () => {
    await store.backup(copy);
    await store.close();
    const elsewhere = join(state.folder, 'new.db');
    expect(restoreSqlite({ from: copy, to: elsewhere }).kept).toBe(null);

    writeFileSync(state.file, 'scrambled beyond recognition');
    writeFileSync(`${state.file}-wal`, 'and its log');
    const { kept } = restoreSqlite({ from: copy, to: state.file });
    expect(readFileSync(kept ?? '', 'utf8')).toBe('scrambled beyond recognition');
    expect(existsSync(`${state.file}-wal`)).toBe(false);
    store = state.open();
    expect(await store.verify()).toMatchObject({ ok: true, runs: 1 });
  });

  test('is refused while a process has the database open, also an idle one', async () => {
    await store.backup(copy);
    const before = readFileSync(state.file);
    expect(() => restoreSqlite({ from: copy, to: state.file })).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        message: expect.stringContaining('has it open'),
        hint: expect.stringContaining('phasegate down'),
      }),
    );
    expect(readFileSync(state.file).equals(before)).toBe(true);
    expect(readdirSync(state.folder).filter((name) => name.includes('restor'))).toEqual([]);
  });

  test('takes a copy made by hand with its log', async () => {
    const byHand = join(state.folder, 'by-hand.db');
    writeFileSync(byHand, readFileSync(state.file));
    writeFileSync(`${byHand}-wal`, readFileSync(`${state.file}-wal`));
    await store.close();
    restoreSqlite({ from: byHand, to: state.file });
    store = state.open();
    expect((await store.list({})).length).toBe(1);
  });

  test.each([
    ['a file that is not there', 'file_unreadable', () => {}],
    ['a text', 'store_corrupt', () => writeFileSync(copy, 'not a database, whatever it is called')],
    ['an empty file', 'store_corrupt', () => writeFileSync(copy, '')],
    ["another program's database", 'store_corrupt', () => alien(copy)],
  ])('%s is refused and the present database left alone', async (_, code, prepare) => {
    await store.close();
    const before = readFileSync(state.file);
    prepare();
    expect(() => restoreSqlite({ from: copy, to: state.file })).toThrow(expect.objectContaining({ code }));
    expect(readFileSync(state.file).equals(before)).toBe(true);
    expect(readdirSync(state.folder).filter((name) => name.includes('restor'))).toEqual([]);
  });

  test('a backup that is damaged, newer, of another project, or the database itself is refused', async () => {
    for (let number = 0; number < 30; number += 1) await create(store, sampleRun(`w${number}`));
    await store.backup(copy);
    await store.close();
    const whole = readFileSync(copy);
    const restore = () => restoreSqlite({ from: copy, to: state.file, seal: state.seal });

    writeFileSync(copy, Buffer.from(whole).fill(0xee, 20_000, 40_000));
    expect(restore).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
    writeFileSync(copy, whole.subarray(0, whole.length / 2));
    expect(restore).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
    writeFileSync(copy, Buffer.from(whole).fill(99, 63, 64));
    expect(restore).toThrow(expect.objectContaining({ code: 'store_newer' }));
    const other = makeStateFolder();
    writeFileSync(copy, whole);
    // It is whole: what is missing is its keys, and no other backup.
    expect(() => restoreSqlite({ from: copy, to: state.file, seal: other.seal })).toThrow(
      expect.objectContaining({
        code: 'store_corrupt',
        message: `\`${copy}\` is signed with other keys than those of this project`,
        hint: expect.stringContaining(`put \`keys.json\` of that project into \`${state.folder}\` first`),
      }),
    );
    other.remove();
    expect(() => restoreSqlite({ from: state.file, to: state.file })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });
});

function alien(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE theirs (a)');
  database.close();
}

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { stateText } from '@phasegate/audit';
import type { Json, Run } from '@phasegate/core';
import { afterDraft, create, sampleDraft, startedEvent } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FULL } from '../../../../../test/tier.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { runScript } from '../fixtures/runScript.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';
import { APPLICATION_ID, MIGRATIONS } from './migrations/index.ts';

let state: StateFolder;

beforeEach(() => {
  state = makeStateFolder();
});

afterEach(() => state.remove());

test('a new database has every migration, numbered in order, and is for its owner only [S3.74]', async () => {
  await state.open().close();
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  expect(state.read('PRAGMA user_version')).toEqual([{ user_version: MIGRATIONS.length }]);
  expect(state.read('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  expect(statSync(state.file).mode & 0o777).toBe(0o600);
});

test('backups have the columns the design names [S3.77]', async () => {
  await state.open().close();
  const columns = state.read(
    'SELECT name, type, pk, "notnull" AS needed FROM pragma_table_info(\'database_backups\')',
  );
  expect(columns).toEqual([
    { name: 'id', type: 'TEXT', pk: 1, needed: expect.anything() },
    { name: 'created_at', type: 'TEXT', pk: 0, needed: 1 },
    { name: 'path', type: 'TEXT', pk: 0, needed: 1 },
    { name: 'workflow_run_id', type: 'TEXT', pk: 0, needed: 0 },
    { name: 'size_bytes', type: 'INTEGER', pk: 0, needed: 0 },
  ]);
});

test('a database of an earlier format is brought up to date with what it holds [S3.80]', async () => {
  const run = sampleRun('r1');
  makeFormat4(run);

  const store = state.open();
  expect(await store.load('r1')).toEqual({ run, version: 1 });
  expect(await store.list({})).toMatchObject([{ run: 'r1', priority: 0, capabilities: [] }]);
  expect(await store.verify()).toMatchObject({ runs: 1, records: 1, findings: [{ kind: 'head_invalid' }] });
  expect(await store.note('r1', [sampleDraft('tool_judged')], 1)).toBe(true);
  expect(await store.save(afterDraft(run), 1, [sampleDraft('phase_completed')])).toBe(true);
  await store.close();
  const again = state.open();
  expect(await again.load('r1')).toEqual({ run: afterDraft(run), version: 2 });
  expect(await again.verify()).toMatchObject({ ok: true, records: 3, unanchored: 0 });
  expect(state.read('SELECT current_step FROM workflow_runs')).toEqual([{ current_step: 'REVIEW' }]);
  await again.close();
});

test('an old seal of the state itself counts until the run is written again, and covers it [adv.H2]', async () => {
  makeFormat4(sampleRun('r1'));
  await state.open().close();
  state.tamper(`UPDATE runs SET state = replace(state, '"DRAFT"', '"REVIEW"')`);

  const store = state.open();
  await expect(store.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
  await store.close();
});

test('a migration that fails leaves the database as it was', async () => {
  await state.open().close();
  state.tamper('PRAGMA user_version = 2; DROP VIEW workflow_runs');

  expect(() => state.open()).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
  expect(state.read('PRAGMA user_version')).toEqual([{ user_version: 2 }]);
  expect(state.read("SELECT name FROM sqlite_schema WHERE name = 'workflow_runs'")).toEqual([]);
});

test('a database of a newer version is refused and left alone', async () => {
  await state.open().close();
  state.tamper('PRAGMA user_version = 99');
  const before = readFileSync(state.file);

  expect(() => state.open()).toThrow(expect.objectContaining({ code: 'store_newer' }));
  expect(() => state.open()).toThrow('format 99');
  expect(readFileSync(state.file).equals(before)).toBe(true);
});

test('a file that is not a database is refused by name, with the way back, and left alone', () => {
  writeFileSync(state.file, 'not a database at all, but long enough to be looked at as one');

  expect(() => state.open()).toThrow(
    expect.objectContaining({ code: 'store_corrupt', hint: expect.stringContaining('phasegate restore') }),
  );
  expect(() => state.open()).toThrow(state.file);
  expect(readFileSync(state.file, 'utf8')).toMatch(/^not a database/);
});

test("another program's database is refused and left alone", () => {
  const database = new DatabaseSync(state.file);
  database.exec('CREATE TABLE theirs (a)');
  database.close();

  expect(() => state.open()).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
  expect(state.read('SELECT name FROM sqlite_schema')).toEqual([{ name: 'theirs' }]);
});

test('a damaged page is a fault that names the file when it is met', async () => {
  const first = state.open();
  for (let number = 0; number < 50; number += 1) await create(first, sampleRun(`r${number}`));
  await first.close();
  const bytes = readFileSync(state.file);
  bytes.fill(0xff, 4096);
  writeFileSync(state.file, bytes);

  const outcome = await openAndLoad();
  expect(outcome).toMatchObject({ code: 'store_corrupt', message: expect.stringContaining(state.file) });
});

test('a folder in its place, or no folder around it, is a fault with its reason', () => {
  mkdirSync(state.file);
  expect(() => state.open()).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
  state.remove();
  expect(() => state.open()).toThrow('its folder does not exist');
});

test('a read-only database is refused at once, and nothing is left beside it', async () => {
  await state.open().close();
  chmodSync(state.file, 0o444);
  chmodSync(state.folder, 0o555);
  asNobody(() => {
    expect(() => state.open()).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    expect(() => state.open()).toThrow('you do not have the permission');
  });
  chmodSync(state.folder, 0o700);
  expect(readdirSync(state.folder).sort()).toEqual(['keys.json', 'state.db']);
});

test('a folder nothing can be made in is refused, and no file is made', () => {
  chmodSync(state.folder, 0o555);
  asNobody(() => {
    expect(() => state.open()).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
  });
  chmodSync(state.folder, 0o700);
  expect(existsSync(state.file)).toBe(false);
});

test('a disk that takes no more refuses the write and keeps all that was answered for [adv.E10]', async () => {
  const { stdout, stderr } = await runScript('fillDisk.ts', [state.folder], 'trap "" XFSZ; ulimit -f 600');
  expect(stderr).toBe('');
  const { kept, code, message } = JSON.parse(stdout) as { kept: string[]; code: string; message: string };
  expect(code).toBe('store_unavailable');
  expect(message).toContain('the disk');
  expect(kept.length).toBeGreaterThan(0);

  const store = state.open();
  for (const id of kept) expect((await store.load(id))?.run.id).toBe(id);
  expect(await store.verify()).toMatchObject({ ok: true, runs: kept.length });
  await store.close();
});

test.runIf(FULL)('six processes that are the first to open it at once all write to it', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const results = await Promise.all(names.map((name) => runScript('firstOpen.ts', [state.folder, name])));
  expect(results.map(({ stdout, stderr }) => [stdout, stderr])).toEqual(names.map(() => ['done', '']));

  const store = state.open();
  expect(await store.verify()).toEqual({ ok: true, runs: 60, records: 120, unanchored: 0, findings: [] });
  await store.close();
});

test.runIf(FULL)(
  'a database another process keeps locked refuses the write after a while and works again afterwards [adv.E10]',
  async () => {
    const store = state.open();
    await create(store, sampleRun('r1'));
    const other = new DatabaseSync(state.file);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.note('r1', [sampleDraft('tool_judged')])).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('another process keeps it locked'),
    });
    expect((await store.load('r1'))?.version).toBe(1);
    other.close();
    expect(await store.note('r1', [sampleDraft('tool_judged')])).toBe(true);
    await store.close();
  },
);

/** A database as the version before the fifth migration left it, with one run sealed in its way. */
function makeFormat4(run: Run): void {
  const database = new DatabaseSync(state.file);
  for (const { sql } of MIGRATIONS.slice(0, 4)) database.exec(sql);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 4`);
  database
    .prepare('INSERT INTO workflows (hash, data) VALUES (?, ?)')
    .run(run.workflowHash, JSON.stringify(run.workflow));
  const started = sampleDraft('run_started', startedEvent(run) as unknown as Json);
  for (const { seq, time, principal, event, dataText, prev, hash } of state.seal.chain(
    run.id,
    { seq: 0, hash: '' },
    [started],
  )) {
    database
      .prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(run.id, seq, time, principal, event, dataText, prev, hash);
    const text = stateText(run);
    const mac = state.seal.mac({ runId: run.id, version: 1, seq, hash, state: text });
    database
      .prepare(
        `INSERT INTO runs (id, workflow_hash, workflow_id, holder, status, phase, epoch, version, seq, hash, mac,
          started_at, updated_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        run.id,
        run.workflowHash,
        run.workflow.id,
        run.holder,
        run.status,
        JSON.stringify(run.phase),
        run.epoch,
        seq,
        hash,
        mac,
        run.startedAt,
        run.updatedAt,
        text,
      );
  }
  database.prepare('INSERT INTO unheaded (run) VALUES (?)').run(run.id);
  database.close();
}

async function openAndLoad(): Promise<unknown> {
  try {
    const store = state.open();
    try {
      await store.load('r1');
    } finally {
      await store.close();
    }
  } catch (error) {
    return error;
  }
  return undefined;
}

/** Root may write everywhere, so under root this is tried as the user who may nowhere. */
function asNobody(act: () => void): void {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

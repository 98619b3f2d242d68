import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { moveHead } from '@phasegate/audit';
import { type Anchor, anchorText, readAnchor } from '@phasegate/audit/verify';
import { create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store, VerifyOptions } from '../../runtime/ports.ts';
import { type Archiving, end, LATER, makeArchiving } from '../fixtures/archiving.ts';
import { bytesReadBy } from '../fixtures/bytesReadBy.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

let state: StateFolder;
let older: string;
let file: string;
let archiving: Archiving;

beforeEach(async () => {
  archiving = await makeArchiving();
  ({ state, file } = archiving);
  older = state.keepCopy();
});

afterEach(() => state.remove());

test('runs that ended go to a file with all of their records, and stubs stay', async () => {
  const before = await using((store) => store.history('r1', { after: 0, limit: 100 }));
  expect(await verify()).toMatchObject({ ok: true, runs: 3 });

  expect(await archive()).toMatchObject({ file, runs: 2, records: 4, sha256: expect.any(String) });

  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(state.folder).filter((name) => name.includes('partial'))).toEqual([]);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const held = lines.map((line) => JSON.parse(line)).filter(({ run, seq }) => run === 'r1' && seq);
  expect(held.map(({ place: _, ...record }) => record)).toEqual(before);
  const bundles = [{ file, sha256: expect.any(String), runs: 2, verified: false }];
  expect(await verify()).toMatchObject({ ok: true, runs: 1, findings: [], archived: bundles });
  expect(await verify({ archives: [file] })).toMatchObject({
    ok: true,
    findings: [],
    archived: [{ runs: 2, verified: true }],
  });
  await using(async (store) => {
    expect(await store.load('r1')).toBeUndefined();
    expect(await store.archivedRun?.('r1')).toMatchObject({ file });
    expect(await store.archivedRun?.('r3')).toBeUndefined();
    expect((await store.list({})).map(({ run }) => run)).toEqual(['r3']);
    const records = await store.history(null, { after: 0, limit: 100 });
    expect(records.at(-1)).toMatchObject({
      event: 'runs_archived',
      principal: 'human:maria',
      data: { file, runs: 2, records: 4 },
    });
  });
  for (const table of ['runs', 'run_heads', 'main.audit', 'texts', 'goals', 'unheaded']) {
    expect(
      state.read(`SELECT 1 FROM ${table} WHERE ${table === 'runs' ? 'id' : 'run'} IN ('r1', 'r2', 1, 2)`),
    ).toEqual([]);
  }
});

test('a run never gets the id, the number or a place of one that is archived', async () => {
  await using((store) => end(store, 'r3'));
  const newest = await using((store) => store.feedEnd());
  await archive();
  await using(async (store) => {
    expect(await store.feedEnd()).toBeGreaterThan(newest);
    expect(await create(store, sampleRun('r1')).catch(() => false)).not.toBe(true);
    await create(store, sampleRun('r4'));
  });
  expect(state.read(`SELECT key FROM runs WHERE id = 'r4'`)).toEqual([{ key: 4 }]);
  expect(await verify({ archives: [file] })).toMatchObject({ ok: true, runs: 1 });
});

test('what is archived a second time goes to a file of its own', async () => {
  await archive();
  expect(await archive(join(state.folder, 'none.jsonl'))).toBeNull();
  expect(existsSync(join(state.folder, 'none.jsonl'))).toBe(false);
  await using((store) => end(store, 'r3'));
  await expect(archive()).rejects.toMatchObject({ code: 'store_unavailable' });
  const second = join(state.folder, 'second.jsonl');
  expect(await archive(second)).toMatchObject({ runs: 1 });
  expect(await verify({ archives: [file, second] })).toMatchObject({ ok: true, runs: 0, findings: [] });
});

test('records that another process has not signed yet are signed first', async () => {
  const other = state.open();
  await end(other, 'r3');
  await other.note('r3', [sampleDraft('tool_judged')]);
  expect(state.read('SELECT 1 AS one FROM unheaded')).toEqual([{ one: 1 }]);
  expect(await archive()).toMatchObject({ runs: 3, records: 7 });
  await other.close();
  expect(await verify({ archives: [file] })).toMatchObject({ ok: true, runs: 0, findings: [] });
});

test('runs that ended later stay', async () => {
  expect(await archive(file, '2026-01-01T00:00:00.000Z')).toBeNull();
});

test('an audit that does not verify is not archived', async () => {
  state.tamper(`UPDATE audit SET principal = 'human:eve' WHERE run = 'r1' AND seq = 1`);
  await expect(archive()).rejects.toMatchObject({ code: 'audit_broken' });
  expect(existsSync(file)).toBe(false);
});

describe('an archive that is cut off leaves all in place, and the next one works:', () => {
  test.each([
    ['before its first row', 'BEFORE INSERT ON archived'],
    ['after its stubs', 'BEFORE DELETE ON run_heads'],
    ['before its last row', 'BEFORE DELETE ON texts'],
    ['before it is signed', 'BEFORE INSERT ON heads'],
  ])('%s', async (_, when) => {
    await using((store) => store.verify());
    state.tamper(`CREATE TRIGGER cut ${when} BEGIN SELECT RAISE(ABORT, 'cut off'); END`);
    await expect(archive()).rejects.toThrow();
    state.tamper('DROP TRIGGER cut');
    expect(await verify()).toMatchObject({ ok: true, runs: 3, findings: [] });
    expect(await verify()).not.toHaveProperty('archived');
    // What is left over is no archive of any run.
    expect(await found({ archives: [file] })).toEqual([['archive_invalid', null]]);
    const next = join(state.folder, 'next.jsonl');
    expect(await archive(next)).toMatchObject({ runs: 2 });
    expect(await verify({ archives: [next] })).toMatchObject({ ok: true, runs: 1, findings: [] });
  });
});

describe('a verification finds', () => {
  beforeEach(async () => {
    await archive();
  });

  test('a file with a byte changed, cut, or none at all', async () => {
    const text = readFileSync(file, 'utf8');
    for (const other of [
      text.replace('drafted', 'drifted'),
      text.slice(0, -2),
      text.split('\n')[0] ?? '',
      '',
    ]) {
      expect(other).not.toBe(text);
      writeFileSync(file, other);
      expect(await found({ archives: [file] })).toEqual([['archive_invalid', null]]);
    }
    expect(await found({ archives: [join(state.folder, 'gone.jsonl')] })).toEqual([
      ['archive_invalid', null],
    ]);
    expect(await found({ archives: [state.folder] })).toEqual([['archive_invalid', null]]);
    // Nobody writes to it, and nobody waits for that.
    const pipe = join(state.folder, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    expect(await found({ archives: [pipe] })).toEqual([['archive_invalid', null]]);
    expect(await verify()).toMatchObject({ ok: true });
  });

  test('a forged file by its last line alone, whatever it holds and however much', async () => {
    const [end = ''] = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-1);
    const forged = join(state.folder, 'forged.jsonl');
    writeFileSync(forged, '');
    truncateSync(forged, 2 ** 23);
    appendFileSync(forged, `\n${end.replace(/"records":\d+/, '"records":9')}\n`);
    const bytes = await bytesReadBy(async () =>
      expect(await found({ archives: [forged] })).toEqual([['archive_invalid', null]]),
    );
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(2 ** 16);
  });

  test('the file of another project', async () => {
    const other = makeStateFolder();
    const foreign = join(other.folder, 'runs.jsonl');
    const store = other.open();
    await create(store, sampleRun('r1'));
    await end(store, 'r1');
    await store.archive?.({ before: LATER, file: foreign, by: 'human:eve' });
    await store.close();
    expect(await found({ archives: [foreign, file] })).toEqual([['archive_invalid', null]]);
    other.remove();
  });

  test('a stub that is gone', async () => {
    state.tamper(`DELETE FROM archived WHERE run = 'r1'`);
    expect(await found()).toContainEqual(['run_dropped', 'r1']);
    expect(await found({ archives: [file] })).toContainEqual(['archive_invalid', null]);
  });

  test.each([
    ['head', `hash = x'00'`],
    ['length', 'seq = 1'],
    ['file', `file = '/elsewhere'`],
    ['hash', `sha256 = 'x'`],
    ['place', 'last_place = 1'],
    ['name', `run = 'r9'`],
  ])('a stub whose %s was edited', async (what, change) => {
    state.tamper(`UPDATE archived SET ${change} WHERE run = 'r1'`);
    expect(await found()).toContainEqual(['state_edited', what === 'name' ? 'r9' : 'r1']);
    if (what === 'name') expect(await found()).toContainEqual(['run_dropped', 'r1']);
    else
      await using((store) =>
        expect(store.archivedRun?.('r1')).rejects.toMatchObject({ code: 'state_tampered' }),
      );
  });

  test('a run that was put back, with its stub and without', async () => {
    state.putBack(older, 'r1');
    expect(await found()).toContainEqual(['state_edited', 'r1']);
    state.tamper(`DELETE FROM archived WHERE run = 'r1'`);
    expect(await found()).toContainEqual(['state_edited', null]);
  });

  test('records that were put back without their run', async () => {
    state.tamper(
      `ATTACH '${older}' AS older; INSERT INTO main.audit SELECT * FROM older.audit WHERE run = 1`,
    );
    expect((await verify()).ok).toBe(false);
  });
});

describe('an anchor of a time when a run was under way that is archived by now', () => {
  let early: string;

  beforeEach(async () => {
    early = await anchorNow();
    await using((store) => end(store, 'r3'));
    await archive();
    await using((store) => create(store, sampleRun('r4')));
  });

  const away = () => {
    const moved = join(state.folder, 'moved.jsonl');
    renameSync(file, moved);
    return moved;
  };

  const ways = [
    ['newer than it', (): VerifyOptions => ({ since: early })],
    ['through it', (): VerifyOptions => ({ anchors: [early] })],
  ] as const;

  test.each(ways)('is checked by the archive, where it was written or is given: %s', async (_, by) => {
    expect(await verify(by())).toMatchObject({ ok: true, findings: [], archived: [{ verified: true }] });
    const moved = away();
    expect(await verify({ ...by(), archives: [moved] })).toMatchObject({ ok: true, findings: [] });
  });

  test.each(ways)('is neither broken nor verified where its archive is not there: %s', async (_, by) => {
    const moved = away();
    for (const other of [null, 'none of ours', readFileSync(moved, 'utf8').replace('drafted', 'drifted')]) {
      if (other !== null) writeFileSync(file, other);
      expect(await verify(by())).toMatchObject({
        ok: false,
        findings: [],
        unproven: { anchors: 1, first: expect.any(String), archives: [file] },
      });
    }
    // The archive of other runs is not the one.
    await using((store) => end(store, 'r4'));
    const second = join(state.folder, 'second.jsonl');
    await archive(second);
    copyFileSync(second, file);
    expect(await verify(by())).toMatchObject({ ok: false, findings: [], unproven: { archives: [file] } });
  });

  test('stands in the way of no new one where all is verified, and of each where it is not', async () => {
    away();
    expect(await verify({ anchor: true, since: early })).not.toHaveProperty('anchor');
    const whole = await verify({ anchor: true, anchors: [early] });
    expect(whole).toMatchObject({ ok: false, findings: [], unproven: { anchors: 1 } });
    expect(await verify({ since: whole.anchor ?? '' })).toMatchObject({ ok: true, findings: [] });
    expect(await verify({ anchors: [whole.anchor ?? ''] })).toMatchObject({ ok: true, findings: [] });
    state.tamper(`UPDATE audit SET principal = 'human:eve' WHERE run = 'r4' AND seq = 1`);
    expect(await verify({ anchor: true, anchors: [early] })).not.toHaveProperty('anchor');
  });

  test.each(ways)('still shows that another run, or the project, was rewritten: %s', async (_, by) => {
    away();
    const anchor = readAnchor(state.seal, early) as Anchor;
    const head = { seq: 1, hash: 'other' };
    const [runId, from] = ['r1', { seq: 0, hash: '' }];
    const changes: readonly Partial<Anchor>[] = [
      { sum: moveHead(anchor.sum, state.seal, { runId, from, to: head }) },
      { runs: anchor.runs + 1 },
      { project: { ...anchor.project, hash: 'other' } },
    ];
    for (const change of changes) {
      early = anchorText(state.seal, { ...anchor, ...change });
      const report = await verify({ ...by(), anchor: true });
      expect(report.findings).not.toEqual([]);
      expect(report).not.toHaveProperty('anchor');
    }
  });
});

test('anchors from before an archive verify after it, also of runs that went on since', async () => {
  const anchors = [await anchorNow()];
  for (const id of ['r4', 'r5']) await using((store) => create(store, sampleRun(id)));
  anchors.push(await anchorNow());
  await using((store) => end(store, 'r3'));
  anchors.push(await anchorNow());
  await archive();
  await using((store) => end(store, 'r4'));
  anchors.push(await anchorNow());
  await archive(join(state.folder, 'second.jsonl'));
  anchors.push(await anchorNow());
  expect(await verify({ anchors })).toMatchObject({ ok: true, findings: [] });
  for (const since of anchors) expect(await verify({ since })).toMatchObject({ ok: true, findings: [] });
  await using((store) => create(store, sampleRun('r6')));
  expect(await verify({ since: anchors.at(-1) ?? '' })).toMatchObject({
    ok: true,
    since: { read: 1, byEnds: 1 },
  });
  rmSync(file);
  // Those of after the first archive know all they need by its stubs.
  expect(await verify({ anchors })).toMatchObject({ ok: false, findings: [], unproven: { anchors: 2 } });
  expect(await verify({ anchors: anchors.slice(2) })).toMatchObject({ ok: true, findings: [] });
});

const using = <T>(act: (store: Store) => T | Promise<T>) => archiving.using(act);
const archive = (to?: string, before?: string) => archiving.archive(to, before);
const verify = (options?: VerifyOptions) => archiving.verify(options);
const found = (options?: VerifyOptions) => archiving.found(options);
const anchorNow = () => archiving.anchorNow();

import { copyFileSync, rmSync, statSync } from 'node:fs';
import type { Json, Run } from '@phasegate/core';
import type { GateDecision } from '@phasegate/core/engine';
import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { someOf } from '../../../../../test/tier.ts';
import type { AuditRecord, Store, TrustRecord } from '../../runtime/ports.ts';
import { toFormat } from '../fixtures/olderFormat.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { runScript } from '../fixtures/runScript.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { restoreSqlite } from './restoreSqlite.ts';

const FORMATS = MIGRATIONS.map(({ number }) => number).slice(0, -1);
/** The oldest has the longest way to go. */
const OLDEST_FIRST = someOf(FORMATS, { quick: 1, full: FORMATS.length });
/** From here on runs and records are stored as they are now, and a migration needs no second copy of them. */
const HISTORY = 9;
/** The first that knows of humans and what they accepted. */
const PEOPLE = 2;
const SLOW = 120_000;

let state: StateFolder;

beforeEach(() => {
  state = makeStateFolder();
});

afterEach(() => state.remove());

test.each(FORMATS)(
  'a database of format %i comes with its runs, its history and every hash [S3.80]',
  async (format) => {
    const before = await fill();
    await toFormat(state, format);
    expect(state.read('PRAGMA user_version')).toEqual([{ user_version: format }]);

    const store = state.open();
    expect(await allOf(store)).toEqual(before);
    expect(await store.verify()).toMatchObject({ ok: true, runs: 3, unanchored: 0 });
    const { run, version } = await requireRun(store, 'r2');
    const next = { ...run, epoch: run.epoch + 1, updatedAt: '2026-01-02T00:00:00.000Z' };
    expect(await store.save(next, version, [sampleDraft('task_fetched')])).toBe(true);
    await store.close();
    expect(state.read('PRAGMA user_version')).toEqual([{ user_version: MIGRATIONS.length }]);
    const again = state.open();
    expect((await requireRun(again, 'r2')).run).toEqual(next);
    expect((await again.verify()).ok).toBe(true);
    await again.close();
  },
);

test.each(FORMATS.filter((format) => format >= PEOPLE))(
  'what humans accepted in a database of format %i is what they accepted last, and no older one is [adv.J1]',
  async (format) => {
    await fill();
    const before = state.open();
    const [loose, strict] = [trustIn('loose'), trustIn('strict')];
    // As the runtime tells of it since the first version.
    for (const trust of [loose, strict]) {
      const { workflow, hash: closure, signature } = trust;
      const draft = sampleDraft('workflow_trusted', { workflow, closure, signature });
      await before.putTrust(trust, [draft]);
    }
    await before.close();
    await toFormat(state, format);

    const store = state.open();
    expect(await store.acceptances()).toEqual([strict, loose]);
    expect((await store.verify()).ok).toBe(true);
    await store.close();
    state.tamper("DELETE FROM trusted WHERE hash = 'strict'");
    const again = state.open();
    await expect(again.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
    await again.close();
  },
);

test.each(FORMATS)(
  'what was changed in a database of format %i is found after it, too [adv.H2]',
  async (format) => {
    await fill();
    await toFormat(state, format);
    state.tamper(`UPDATE runs SET state = replace(state, '"DRAFT"', '"DRAFTS"') WHERE id = 'r1'`);
    state.tamper(`UPDATE audit SET principal = 'human:eve' WHERE run = 'r2' AND seq = 2`);
    // Since the ninth format a hash is bytes, and this is none.
    const prev = format < 9 ? 'nothing' : '00';
    state.tamper(`UPDATE audit SET prev = '${prev}' WHERE run = 'r3' AND seq = 2`);

    const store = state.open();
    await expect(store.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
    expect((await store.verify()).findings.map(({ kind, run, seq }) => [kind, run, seq])).toEqual([
      ['state_edited', 'r1', 1],
      ['record_edited', 'r2', 2],
      ['record_edited', 'r3', 1],
      ['record_edited', 'r3', 2],
    ]);
    await store.close();
  },
);

test.each(FORMATS)('a backup of format %i can be restored', async (format) => {
  const before = await fill();
  await toFormat(state, format);
  const backup = `${state.file}.backup`;
  copyFileSync(state.file, backup);
  const present = state.open();
  await create(present, sampleRun('later'));
  await present.close();

  expect(restoreSqlite({ from: backup, to: state.file, seal: state.seal })).toMatchObject({
    version: format,
  });
  const store = state.open();
  expect(await allOf(store)).toEqual(before);
  await store.close();
});

test('a database of a newer format is refused, and nothing of it is changed', async () => {
  await fill();
  state.tamper(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  expect(() => state.open()).toThrow(expect.objectContaining({ code: 'store_newer' }));
  expect(state.read('PRAGMA user_version')).toEqual([{ user_version: MIGRATIONS.length + 1 }]);
});

describe('a migration that does not come to its end changes nothing:', () => {
  test.each(OLDEST_FIRST)(
    'the process is killed at any of its statements, from format %i',
    async (format) => {
      const before = await fill();
      await toFormat(state, format);
      const older = `${state.file}.older`;
      copyFileSync(state.file, older);
      const statements = Number((await runScript('cutMigration.ts', [state.folder])).stdout);
      expect(statements).toBeGreaterThan(format < HISTORY ? 20 : 4);

      const all = Array.from({ length: statements }, (_, index) => index + 1);
      for (const at of someOf(all, { quick: 3, full: 12, long: 1000 })) {
        putBack(older);
        await runScript('cutMigration.ts', [state.folder, String(at)]);
        // The last statement is the one that commits, and the kill comes before it.
        const [{ user_version: left } = {}] = state.read('PRAGMA user_version');
        expect([at, left]).toEqual([at, format]);
        expect(state.read('SELECT count(*) AS n FROM runs')).toEqual([{ n: 3 }]);
      }
      const store = state.open();
      expect(await allOf(store)).toEqual(before);
      expect((await store.verify()).ok).toBe(true);
      await store.close();
    },
    SLOW,
  );

  test.each(OLDEST_FIRST.filter((format) => format < HISTORY))(
    'the disk is full, from format %i',
    async (format) => {
      const before = await fill({ note: 'y'.repeat(300_000) });
      await toFormat(state, format);
      const older = `${state.file}.older`;
      copyFileSync(state.file, older);
      const size = Math.ceil(statSync(state.file).size / 1024);
      const refused: number[] = [];
      for (const share of someOf([1 / 2, 1 / 16, 1 / 4, 1, 5 / 4], { quick: 1, full: 5 })) {
        putBack(older);
        const limit = `trap "" XFSZ; ulimit -f ${Math.ceil(size * share)}`;
        const { stdout } = await runScript('openOnly.ts', [state.folder], limit);
        const [{ user_version: left } = {}] = state.read('PRAGMA user_version');
        // Either there was room for all of it, or nothing is changed.
        if (stdout === 'verified') expect([share, left]).toEqual([share, MIGRATIONS.length]);
        else {
          expect([share, stdout]).toEqual([share, expect.stringMatching(/^store_unavailable: .*the disk/)]);
          expect([share, left]).toEqual([share, format]);
          refused.push(share);
        }
      }
      expect(refused).toContain(1 / 2);

      const store = state.open();
      expect(await allOf(store)).toEqual(before);
      expect((await store.verify()).ok).toBe(true);
      await store.close();
    },
    SLOW,
  );
});

test.each(OLDEST_FIRST)(
  'several processes that find format %i at once all go on with the new one',
  async (format) => {
    const before = await fill();
    await toFormat(state, format);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => runScript('openOnly.ts', [state.folder])),
    );
    expect(answers.map(({ stdout }) => stdout)).toEqual(answers.map(() => 'verified'));
    const store = state.open();
    expect(await allOf(store)).toEqual(before);
    await store.close();
  },
  SLOW,
);

/** Three runs: one just begun, one with a history, large values and decisions, one that has ended. */
async function fill(more: Readonly<Record<string, Json>> = {}) {
  const store = state.open();
  for (const id of ['r1', 'r2', 'r3']) await create(store, sampleRun(id));
  const drafted = afterDraft(sampleRun('r2'));
  const evidence = { plan: { steps: Array.from({ length: 80 }, (_, n) => `step ${n}`) }, ...more };
  const reviewed = {
    ...drafted,
    decisions: [decision],
    completions: [...drafted.completions, { ...drafted.completions[0], evidence }],
    state: { plan: evidence.plan },
  } as unknown as Run;
  await store.save(drafted, 1, [sampleDraft('phase_completed', { evidence: { notes: 'drafted' } })]);
  await store.save(reviewed, 2, [sampleDraft('phase_completed', { evidence })]);
  await store.note('r2', [sampleDraft('tool_judged', { tool: 'bash' })]);
  const ended = { ...sampleRun('r3'), status: 'completed', phase: null } as unknown as Run;
  await store.save(ended, 1, [sampleDraft('phase_completed')], { project: [sampleDraft('run_ended')] });
  const all = await allOf(store);
  await store.close();
  return all;
}

function trustIn(hash: string): TrustRecord {
  return { hash, workflow: 'w', files: { w: hash }, by: 'ada', at: 't', signature: `by ada: ${hash}` };
}

const decision: GateDecision = {
  ...{ gate: 'ship#1', option: 'Approve', input: null, shown: 's', by: 'ada', signature: 'x' },
  at: '2026-01-01T00:00:00.000Z',
};

async function allOf(store: Store) {
  const runs = [];
  const chains: (readonly AuditRecord[])[] = [await store.history(null, { after: 0, limit: 99 })];
  for (const id of ['r1', 'r2', 'r3']) {
    // Whole: of runs that ended the store reads the completions when they are asked for, and not once it is closed.
    runs.push(structuredClone(await store.load(id)));
    chains.push(await store.history(id, { after: 0, limit: 99 }));
  }
  const feed = await store.feed(0, 99);
  return { runs, chains, feed, list: await store.list({}), checkpoints: checkpoints() };
}

function checkpoints() {
  return state
    .read('SELECT id, checkpoint_json, current_step, iteration_counts FROM workflow_runs ORDER BY id')
    .map(({ checkpoint_json: checkpoint, ...row }) => ({
      ...row,
      checkpoint: JSON.parse(String(checkpoint)),
    }));
}

async function requireRun(store: Store, id: string) {
  const stored = await store.load(id);
  if (stored === undefined) throw new Error(`there is no run ${id}`);
  return stored;
}

function putBack(copy: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(state.file + suffix, { force: true });
  copyFileSync(copy, state.file);
}

import { DatabaseSync } from 'node:sqlite';
import { verifyAudit } from '@phasegate/audit/verify';
import type { GateDecision } from '@phasegate/core/engine';
import type { AuditDraft } from '@phasegate/core/ports';
import { create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';
import { sqliteSource } from './verifySqlite.ts';

const TIME = '1970-01-01T00:00:00.000Z';

let state: StateFolder;

beforeEach(async () => {
  state = makeStateFolder();
  const store = state.open();
  await store.putHuman(ada, [sampleDraft('human_added')]);
  await store.close();
});

afterEach(() => state.remove());

test('a decision its human did not sign is found, also of a human removed since [adv.J1]', async () => {
  const store = state.open();
  const [signed, forged] = [decision('ada', 'signed'), decision('ada', 'forged')];
  const late = { ...signed, at: '2999-01-01T00:00:00.000Z' };
  await create(store, sampleRun('r4', { decisions: [signed, forged, late] }));
  await store.removeHuman('ada', [sampleDraft('human_removed')]);
  await store.close();

  const seen: string[][] = [];
  const checked = state.open({
    verifyDecision: (_, { signature }, humans) => {
      seen.push(humans.map(({ name }) => name));
      return humans.length > 0 && signature === 'signed';
    },
  });
  expect((await checked.verify()).findings.map(({ kind, run, seq }) => [kind, run, seq])).toEqual([
    ['decision_forged', 'r4', 1],
    ['decision_forged', 'r4', 1],
  ]);
  // A key is good for its time: after the removal it is nobody's.
  expect(seen).toEqual([['ada'], ['ada'], []]);
  await checked.close();
});

test('a decision that came after its human had left is found, whatever time is written into it [adv.J1]', async () => {
  const [before, after] = [decision('ada', 'before'), decision('ada', 'after')];
  const store = state.open();
  const run = sampleRun('r4', { decisions: [before, after] });
  await create(store, run);
  const decided = (one: typeof before) => [sampleDraft('gate_decided', { decision: { ...one } })];
  await store.note('r4', decided(before));
  await store.removeHuman('ada', [sampleDraft('human_removed')]);
  await store.note('r4', decided(after));
  await store.close();

  const checked = state.open({
    verifyDecision: (_, __, humans) => humans.some(({ name }) => name === 'ada'),
  });
  expect((await checked.verify()).findings.map(({ kind, run, seq }) => [kind, run, seq])).toEqual([
    ['decision_forged', 'r4', expect.any(Number)],
  ]);
  await checked.close();
});

test('what humans did is read once, however many decisions of one who left there are', async () => {
  const store = state.open();
  const chain = [
    sampleDraft('human_added', { name: 'ada', publicKey: 'key' }),
    sampleDraft('human_removed', { name: 'ada' }),
  ];
  const [added, removed] = chain as [AuditDraft, AuditDraft];
  await store.note(null, [added]);
  const decisions = Array.from({ length: 40 }, (_, index) => decision('ada', `signed ${index}`));
  const runs = ['r4', 'r5', 'r6'];
  for (const id of runs) {
    await create(store, sampleRun(id, { decisions }));
    await store.note(
      id,
      decisions.map((one) => sampleDraft('gate_decided', { decision: { ...one } })),
    );
  }
  await store.removeHuman('ada', [removed]);
  await store.close();

  const database = new DatabaseSync(state.file, { readOnly: true });
  onTestFinished(() => database.close());
  const source = sqliteSource(database, state.seal);
  const read = new Map<string | null, number>();
  let asked = 0;
  const verifyDecision = () => {
    asked += 1;
    return true;
  };
  const report = await verifyAudit({
    source: {
      ...source,
      *records(run) {
        read.set(run, (read.get(run) ?? 0) + 1);
        yield* source.records(run);
      },
    },
    seal: state.seal,
    knowledge: { verifyDecision },
  });
  expect(report.findings).toEqual([]);
  // Once for all decisions, and once for the chain itself.
  expect(Object.fromEntries(read)).toEqual({ null: 2, r4: 1, r5: 1, r6: 1 });
  // Each by the time in it, and by the order of the records.
  expect(asked).toBe(2 * 40 * 3);
});

test('what humans did is read again where it could not be read once', async () => {
  const store = state.open();
  const chain = [
    sampleDraft('human_added', { name: 'ada', publicKey: 'key' }),
    sampleDraft('human_removed', { name: 'ada' }),
  ];
  const [added, removed] = chain as [AuditDraft, AuditDraft];
  await store.note(null, [added]);
  const signed = decision('ada', 'signed');
  await create(store, sampleRun('r4', { decisions: [signed] }));
  await store.note('r4', [sampleDraft('gate_decided', { decision: { ...signed } })]);
  await store.removeHuman('ada', [removed]);
  await store.close();

  const database = new DatabaseSync(state.file, { readOnly: true });
  onTestFinished(() => database.close());
  const real = sqliteSource(database, state.seal);
  let isAway = true;
  const source: typeof real = {
    ...real,
    *records(run) {
      if (run === null && isAway) throw new Error('the disk is away');
      yield* real.records(run);
    },
  };
  const verify = () => verifyAudit({ source, seal: state.seal, knowledge: { verifyDecision: () => true } });

  await expect(verify()).rejects.toThrow('the disk is away');
  isAway = false;
  expect((await verify()).findings).toEqual([]);
});

const ada = {
  name: 'ada',
  publicKey: 'key',
  wrappedKey: { kdf: 'scrypt', n: 1, r: 1, p: 1, salt: '', iv: '', tag: '', ciphertext: '' },
  addedAt: TIME,
} as const;

function decision(by: string, signature: string): GateDecision {
  return { gate: 'ship#1', option: 'Approve', input: null, shown: 's', by, at: TIME, signature };
}

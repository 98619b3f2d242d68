import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cases, someOf } from '../../../../../test/tier.ts';
import {
  type CrashPoint,
  committedAt,
  createCrashPoints,
  inTurns,
  leadToEnd,
  whereOf,
} from '../fixtures/crashPoints.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { rowsIn } from '../fixtures/rowsIn.ts';
import { runScript } from '../fixtures/runScript.ts';

const SCRIPT = 'killedWrites.ts';
const LONG = 1_800_000;
/** On every change some points of one act, in the full tier all of it; all points of all acts take long. */
const ACTS = cases({ quick: 1, full: 1, long: 1000 });

interface Reference {
  readonly state: StateFolder;
  readonly transactions: readonly (readonly string[])[];
}

test('a process killed at any statement boundary of any kind of transaction leaves the state before it or after it, whole, and what it was at goes on to its end [adv.K3 adv.K5]', {
  timeout: LONG,
}, async () => {
  const acts = await allActs();
  const references = new Map<string, Reference>();
  const { points, kinds, add } = createCrashPoints();
  for (const act of acts.slice(0, ACTS)) {
    const reference = await referenceOf(act);
    references.set(act, reference);
    add(act, reference.transactions);
  }
  const tried = someOf([...points.values()].reverse(), { quick: 8, full: 1_000_000 });

  await inTurns(tried, (point) => killedAt(references.get(point.act) as Reference, point));

  console.log(
    `${acts.length} acts, ${kinds.size} kinds of transactions, killed at ${tried.length} of ${points.size} points`,
  );
  for (const { state } of references.values()) state.remove();
  expect(tried.length).toBeGreaterThan(cases({ quick: 5, full: 60, long: 400 }));
});

async function allActs(): Promise<readonly string[]> {
  const state = makeStateFolder();
  const { stdout, stderr } = await runScript(SCRIPT, [state.folder]);
  state.remove();
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** What an act does when nobody kills it: its transactions, and the rows each of them left. */
async function referenceOf(act: string): Promise<Reference> {
  const state = makeStateFolder();
  const { code, stdout, stderr } = await runScript(SCRIPT, [state.folder, act]);
  expect([code, stderr], act).toEqual([0, '']);
  return { state, transactions: JSON.parse(stdout) };
}

async function killedAt(reference: Reference, point: CrashPoint): Promise<void> {
  // With the same keys, so that the same is signed and sealed the same way.
  const state = reference.state.sameKeys();
  try {
    const where = whereOf(point);
    const { act, place, at } = point;
    const { code } = await runScript(SCRIPT, [state.folder, act, String(place), String(at)]);
    expect(code, where).toBeNull();
    const committed = committedAt(point);
    expect(rowsIn(state.file), where).toEqual(rowsAfter(reference.state, committed));
    const store = state.open();
    const { findings } = await store.verify();
    if (findings.length > 0) expect(findings, where).toEqual(await findingsAfter(reference, committed));
    await leadToEnd(store, where);
    expect((await store.verify()).findings, where).toEqual(findings);
    await store.close();
  } finally {
    state.remove();
  }
}

function rowsAfter({ folder }: StateFolder, committed: number): unknown {
  if (committed === 0) return {};
  return JSON.parse(readFileSync(join(folder, 'rows', `${committed}.json`), 'utf8'));
}

/** What verifying finds when nobody was killed: nothing, but where a clause writes what its records do not say. */
async function findingsAfter({ state }: Reference, committed: number): Promise<readonly unknown[]> {
  if (committed === 0) return [];
  const copy = state.sameKeys();
  copyFileSync(join(state.folder, 'rows', `${committed}.db`), copy.file);
  const store = copy.open();
  const { findings } = await store.verify();
  await store.close();
  copy.remove();
  return findings;
}

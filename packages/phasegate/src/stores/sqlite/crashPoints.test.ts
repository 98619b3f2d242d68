import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleDraft } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { cases, someOf } from '../../../../../test/tier.ts';
import type { Store } from '../../runtime/ports.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { rowsIn } from '../fixtures/rowsIn.ts';
import { runScript } from '../fixtures/runScript.ts';

const SCRIPT = 'killedWrites.ts';
const LONG = 1_800_000;
/** On every change some points of one act, in the full tier all of it; all points of all acts take long. */
const ACTS = cases({ quick: 1, full: 1, long: 1000 });
/** Children at a time: there are two cores. */
const AT_A_TIME = 2;

interface Point {
  /** The clause of the contract in which it is met first. */
  readonly act: string;
  /** Its place among the transactions of that clause. */
  readonly place: number;
  readonly statements: readonly string[];
  /** How many of them were executed. */
  readonly at: number;
}

interface Reference {
  readonly state: StateFolder;
  readonly transactions: readonly (readonly string[])[];
}

test('a process killed at any statement boundary of any kind of transaction leaves the state before it or after it, whole, and what it was at goes on to its end [adv.K3 adv.K5]', {
  timeout: LONG,
}, async () => {
  const acts = await allActs();
  const references = new Map<string, Reference>();
  // What was executed before the kill, and whether it was the whole transaction, tells one point from another.
  const points = new Map<string, Point>();
  const kinds = new Set<string>();
  for (const act of acts.slice(0, ACTS)) {
    const reference = await referenceOf(act);
    references.set(act, reference);
    for (const [place, statements] of reference.transactions.entries()) {
      kinds.add(textOf(statements));
      for (let at = 0; at <= statements.length; at++) {
        const key = `${at === statements.length} ${textOf(statements.slice(0, at))}`;
        if (!points.has(key)) points.set(key, { act, place, statements, at });
      }
    }
  }
  const tried = someOf([...points.values()].reverse(), { quick: 8, full: 1_000_000 });

  await inTurns(tried, (point) => killedAt(references.get(point.act) as Reference, point));

  console.log(
    `${acts.length} acts, ${kinds.size} kinds of transactions, killed at ${tried.length} of ${points.size} points`,
  );
  for (const { state } of references.values()) state.remove();
  expect(tried.length).toBeGreaterThan(cases({ quick: 5, full: 60, long: 400 }));
});

/** What one statement does again and again is one kind, however often. */
function textOf(statements: readonly string[]): string {
  return statements.filter((sql, index) => sql !== statements[index - 1]).join('\n');
}

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

async function killedAt(reference: Reference, { act, place, statements, at }: Point): Promise<void> {
  // With the same keys, so that the same is signed and sealed the same way.
  const state = reference.state.sameKeys();
  try {
    const where = `${act}: transaction ${place}, before statement ${at}: ${statements[at] ?? 'none, it is over'}`;
    const { code } = await runScript(SCRIPT, [state.folder, act, String(place), String(at)]);
    expect(code, where).toBeNull();
    const committed = at === statements.length ? place + 1 : place;
    expect(rowsIn(state.file), where).toEqual(rowsAfter(reference.state, committed));
    const store = state.open();
    const { findings } = await store.verify();
    if (findings.length > 0) expect(findings, where).toEqual(await findingsAfter(reference, committed));
    await goOn(store, where);
    // A process that was killed before it signed its first head leaves that to the next one that writes.
    const signed = findings.filter(({ kind }) => kind !== 'head_invalid');
    expect([findings, signed], where).toContainEqual((await store.verify()).findings);
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

/** Leads every run that is under way to its end. */
async function goOn(store: Store, where: string): Promise<void> {
  for (const { run: id, status } of await store.list({ limit: 1000 })) {
    if (status === 'completed' || status === 'stopped') continue;
    const stored = await store.load(id);
    if (stored === undefined) throw new Error(`${where}: \`${id}\` is listed and not there`);
    const ended = { ...stored.run, status: 'completed', phase: null } as unknown as typeof stored.run;
    const audit = [sampleDraft('phase_completed')];
    const project = [sampleDraft('run_ended')];
    expect(await store.save(ended, stored.version, audit, { project }), where).toBe(true);
  }
}

async function inTurns<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (const one of left) await act(one);
    }),
  );
}

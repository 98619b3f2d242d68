import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TRUST_MARK } from '@phasegate/audit';
import type { Run } from '@phasegate/core';
import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store, TrustRecord } from '../../runtime/ports.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

/** As many records as make a mark worth it. */
const MANY = 128;
const MARK = `SELECT data FROM kept WHERE kind = '${TRUST_MARK.kind}'`;
const NEWEST = '(SELECT max(number) FROM trusted)';

let state: StateFolder;

beforeEach(() => {
  state = makeStateFolder();
});

afterEach(() => state.remove());

test('what one process accepts is what another one reads next, also while both have the database open', async () => {
  const [one, other] = [state.open(), state.open()];
  for (const hash of ['h1', 'h2', 'h1']) {
    await accept(one, hash);
    expect((await other.trustedBefore('w'))?.hash).toBe(hash);
    await accept(other, `${hash} of the other`);
    expect((await one.acceptances())[0]?.hash).toBe(`${hash} of the other`);
  }
  expect((await one.verify()).ok).toBe(true);
  await one.close();
  await other.close();
});

test('a row that is taken away while a process has the database open is missed when it reads again', async () => {
  const store = state.open();
  await accept(store, 'h1');
  await accept(store, 'h2');
  expect((await store.trustedBefore('w'))?.hash).toBe('h2');

  state.tamper(`DELETE FROM trusted WHERE number = ${NEWEST}`);

  await expect(store.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
  await expect(store.trusted('h1')).rejects.toMatchObject({ code: 'state_tampered' });
  await expect(store.acceptances()).rejects.toMatchObject({ code: 'state_tampered' });
  // What is said of the first alone leaves nobody to guess which one it was.
  expect((await store.verify()).findings).toEqual([
    expect.objectContaining({
      kind: 'state_edited',
      message: 'an acceptance of `w` was given (record 2 of the project) and is gone',
    }),
  ]);
  await store.close();
});

test('each row that is not as it was written is told once', async () => {
  const store = state.open();
  for (const hash of ['h1', 'h2', 'h3', 'h4']) await accept(store, hash);
  await store.close();
  state.tamper(`
    UPDATE trusted SET mac = 'x' WHERE hash = 'h1';
    UPDATE trusted SET hash = 'h5' WHERE hash = 'h2';
    DELETE FROM trusted WHERE hash = 'h3';
    INSERT INTO trusted (hash, workflow, data, mac) SELECT hash, workflow, data, mac FROM trusted WHERE hash = 'h4';
  `);

  const again = state.open();
  expect((await again.verify()).findings.map(({ message }) => message)).toEqual([
    'an acceptance of `w` does not match its seal',
    'an acceptance of `w` does not match its seal',
    "an acceptance of `w` does not stand on the project's chain",
    'an acceptance of `w` was given (record 3 of the project) and is gone',
  ]);
  await again.close();
});

test('rows in another order are told: the last one is what counts', async () => {
  const store = state.open();
  for (const hash of ['h1', 'h2', 'h3']) await accept(store, hash);
  await accept(store, 'h4', 'other');
  await store.close();
  state.tamper("UPDATE trusted SET number = number + 10 WHERE hash = 'h1'");

  const again = state.open();
  expect((await again.verify()).findings.map(({ message }) => message)).toEqual([
    "an acceptance of `w` does not stand where it is on the project's chain",
  ]);
  await expect(again.trustedBefore('other')).rejects.toMatchObject({ code: 'state_tampered' });
  await again.close();
});

test('a new process reads what is behind the mark of the one before it, and not all of the chain', async () => {
  await fill();
  expect(marked()).toBe(MANY + 2);

  // Nobody but `audit verify` reads so old a record again.
  state.tamper(`UPDATE audit SET principal = 'human:eve' WHERE run = '' AND seq = 5`);
  const store = state.open();
  expect((await store.trustedBefore('w'))?.hash).toBe('h2');
  expect((await store.verify()).findings.map(({ kind, seq }) => [kind, seq])).toEqual([['record_edited', 5]]);
  await store.close();

  state.tamper('DELETE FROM kept');
  const again = state.open();
  await expect(again.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
  await again.close();
});

test.each([
  ['is gone', 'DELETE FROM kept'],
  ['was changed', `UPDATE kept SET data = json_set(data, '$.count', 1)`],
  ['has no seal', "UPDATE kept SET mac = ''"],
])('a mark that %s is of no use, and hides nothing [adv.J1]', async (_, sql) => {
  await fill();
  state.tamper(sql);
  const store = state.open();
  expect((await store.trustedBefore('w'))?.hash).toBe('h2');
  await store.close();

  state.tamper(`${sql}; DELETE FROM trusted WHERE number = ${NEWEST}`);
  const again = state.open();
  await expect(again.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
  await again.close();
});

test('a mark of a time before the newest acceptance does not bring the older one back [adv.J1]', async () => {
  const store = state.open();
  await accept(store, 'h1');
  await note(store, MANY);
  expect((await store.trustedBefore('w'))?.hash).toBe('h1');
  await store.close();
  const [kept] = state.read('SELECT data, mac FROM kept');
  const later = state.open();
  await accept(later, 'h2');
  await note(later, MANY);
  expect((await later.trustedBefore('w'))?.hash).toBe('h2');
  await later.close();
  expect(state.read(MARK)[0]?.data).not.toBe(kept?.data);

  state.tamper(`
    UPDATE kept SET data = '${kept?.data}', mac = '${kept?.mac}';
    DELETE FROM trusted WHERE number = ${NEWEST};
  `);

  const again = state.open();
  await expect(again.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
  await again.close();
});

test('the mark of a past that was given up is of no use in the one that was put back', async () => {
  const store = state.open();
  await accept(store, 'h1');
  await store.close();
  const copy = state.keepCopy();
  const other = state.open();
  await accept(other, 'h2');
  await note(other, MANY);
  expect((await other.trustedBefore('w'))?.hash).toBe('h2');
  await other.close();
  const [kept] = state.read('SELECT * FROM kept');

  // What a human puts back with `restore`, and somebody else adds to.
  for (const suffix of ['-wal', '-shm']) rmSync(state.file + suffix, { force: true });
  copyFileSync(copy, state.file);
  const { kind, key, data, mac } = kept ?? {};
  state.tamper(`INSERT INTO kept (kind, key, data, mac) VALUES ('${kind}', '${key}', '${data}', '${mac}')`);
  expect(state.read('SELECT * FROM kept')).toEqual([kept]);

  const again = state.open();
  expect((await again.trustedBefore('w'))?.hash).toBe('h1');
  await accept(again, 'h3');
  await note(again, MANY);
  expect((await again.trustedBefore('w'))?.hash).toBe('h3');
  expect((await again.verify()).ok).toBe(true);
  await again.close();
});

test('what was accepted among runs that are archived since is as it was, and the archive verifies', async () => {
  const store = state.open();
  await accept(store, 'h1');
  await create(store, sampleRun('r1'));
  await accept(store, 'h2');
  const ended = afterDraft(sampleRun('r1'), { status: 'completed' } as Partial<Run>);
  await store.save(ended, 1, [sampleDraft('phase_completed')], { project: [sampleDraft('run_ended')] });
  await accept(store, 'h1');

  const file = join(state.folder, 'runs.jsonl');
  const order = { before: '2027-01-01T00:00:00.000Z', file, by: 'human:maria' };
  expect(await store.archive?.(order)).toMatchObject({ runs: 1 });
  await store.close();

  const again = state.open();
  expect((await again.acceptances()).map(({ hash }) => hash)).toEqual(['h1', 'h2', 'h1']);
  expect(await again.verify({ archives: [file] })).toMatchObject({ ok: true, runs: 0 });
  await again.close();
});

/** Two acceptances, and as much on the chain behind the first as makes a mark worth it. */
async function fill(): Promise<void> {
  const store = state.open();
  await accept(store, 'h1');
  await note(store, MANY);
  await accept(store, 'h2');
  expect((await store.trustedBefore('w'))?.hash).toBe('h2');
  await store.close();
}

function marked(): unknown {
  const [row] = state.read(MARK);
  return (JSON.parse(String(row?.data)) as { readonly seq: number }).seq;
}

function accept(store: Store, hash: string, workflow = 'w'): Promise<void> {
  const trust: TrustRecord = {
    hash,
    workflow,
    files: { f: hash },
    by: 'ada',
    at: 't',
    signature: `of ${hash}`,
  };
  return store.putTrust(trust, [sampleDraft('workflow_trusted')]);
}

async function note(store: Store, count: number): Promise<void> {
  const notes = Array.from({ length: count }, (_, place) => sampleDraft('start_refused', { place }));
  expect(await store.note(null, notes)).toBe(true);
}

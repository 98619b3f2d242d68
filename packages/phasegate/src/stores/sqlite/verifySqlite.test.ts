import type { Run, RunEvent, Workflow } from '@phasegate/core';
import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AuditReport, Store } from '../../runtime/ports.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

const TIME = '1970-01-01T00:00:00.000Z';

let state: StateFolder;

beforeEach(async () => {
  state = makeStateFolder();
  const store = state.open();
  for (const id of ['r1', 'r2', 'r3']) await create(store, sampleRun(id));
  await finishDraft(store, 'r2');
  await store.note('r2', [sampleDraft('tool_judged', { tool: 'bash' }), sampleDraft('tool_judged')]);
  await store.putHuman(ada, [sampleDraft('human_added')]);
  await store.close();
});

afterEach(() => state.remove());

test('a store nobody touched verifies, also against its events', async () => {
  expect(await verify()).toEqual({ ok: true, runs: 3, records: 10, unanchored: 0, findings: [] });
});

describe('an edited record is found and named [adv.M2]:', () => {
  test.each([
    ['its data', `data = '{"tool":"read"}'`],
    ['its event', `event = 'command_refused'`],
    ['its principal', `principal = 'human:ada'`],
    ['its time', `time = '2026-01-01T00:00:00.001Z'`],
    ['its data to what is no JSON', `data = '{'`],
  ])('%s', async (_, change) => {
    state.tamper(`UPDATE audit SET ${change} WHERE run = 'r2' AND seq = 3`);
    expect(await found()).toEqual([['record_edited', 'r2', 3]]);
  });

  test('also when it was hashed anew', async () => {
    const forged = rehash('r2', 3, { tool: 'read' });
    state.tamper(
      `UPDATE audit SET data = '${forged.data}', hash = '${forged.hash}' WHERE run = 'r2' AND seq = 3`,
    );
    expect(await found()).toEqual([['record_edited', 'r2', 3]]);
  });

  test('also when the whole chain was computed anew up to its end', async () => {
    const third = rehash('r2', 3, { tool: 'read' });
    state.tamper(
      `UPDATE audit SET data = '${third.data}', hash = '${third.hash}' WHERE run = 'r2' AND seq = 3;
       UPDATE audit SET prev = '${third.hash}' WHERE run = 'r2' AND seq = 4`,
    );
    const last = rehash('r2', 4, {});
    state.tamper(`UPDATE audit SET hash = '${last.hash}' WHERE run = 'r2' AND seq = 4`);
    expect(await found()).toEqual([['record_edited', 'r2', 4]]);

    state.tamper(`UPDATE runs SET hash = '${last.hash}' WHERE id = 'r2'`);
    expect(await found()).toEqual([['state_edited', 'r2', 4]]);
  });

  test("on the project's chain", async () => {
    state.tamper(`UPDATE audit SET principal = 'human:eve' WHERE run = '' AND seq = 2`);
    expect(await found()).toEqual([['record_edited', null, 2]]);
  });

  test("the last of the project's chain, hashed anew", async () => {
    const forged = rehash('', 4, { name: 'ada', publicKey: 'another key' });
    state.tamper(
      `UPDATE audit SET data = '${forged.data}', hash = '${forged.hash}' WHERE run = '' AND seq = 4`,
    );
    expect(await found()).toContainEqual(['record_edited', null, 4]);
  });

  test('one added at the end', async () => {
    state.tamper(
      `INSERT INTO audit (run, seq, time, principal, event, data, prev, hash)
       SELECT run, 5, time, principal, event, data, hash, hash FROM audit WHERE run = 'r2' AND seq = 4`,
    );
    expect(await found()).toEqual([['record_edited', 'r2', 5]]);
    const forged = rehash('r2', 5, {});
    state.tamper(`UPDATE audit SET hash = '${forged.hash}' WHERE run = 'r2' AND seq = 5`);
    expect(await found()).toEqual([['record_edited', 'r2', 5]]);
  });
});

describe('a removed record is found and named:', () => {
  test('in the middle', async () => {
    state.tamper("DELETE FROM audit WHERE run = 'r2' AND seq = 2");
    expect(await found()).toEqual([['record_missing', 'r2', 2]]);
  });

  test('the first', async () => {
    state.tamper("DELETE FROM audit WHERE run = 'r2' AND seq = 1");
    expect(await found()).toEqual([['record_missing', 'r2', 1]]);
  });

  test("of the project's chain", async () => {
    state.tamper("DELETE FROM audit WHERE run = '' AND seq = 2");
    expect(await found()).toEqual([['record_missing', null, 2]]);
  });
});

describe('a cut tail is found and named [adv.M1]:', () => {
  test('of a run', async () => {
    state.tamper("DELETE FROM audit WHERE run = 'r2' AND seq > 2");
    const report = await verify();
    expect(kinds(report)).toEqual([['tail_cut', 'r2', 3]]);
    expect(report.findings[0]?.message).toBe('records 3 to 4 are missing at the end of run `r2`');
  });

  test('of a run whose row was made to fit', async () => {
    const [left] = state.read("SELECT hash FROM audit WHERE run = 'r2' AND seq = 2");
    state.tamper(`DELETE FROM audit WHERE run = 'r2' AND seq > 2;
      UPDATE runs SET seq = 2, hash = '${left?.hash}' WHERE id = 'r2'`);
    expect(await found()).toEqual([
      ['state_edited', 'r2', 2],
      ['tail_cut', 'r2', 3],
    ]);
  });

  test('all records of a run', async () => {
    state.tamper("DELETE FROM audit WHERE run = 'r2'");
    expect(await found()).toEqual([['tail_cut', 'r2', 1]]);
  });

  test("of the project's chain", async () => {
    state.tamper("DELETE FROM audit WHERE run = '' AND seq > 2");
    expect(await found()).toContainEqual(['tail_cut', null, 3]);
  });
});

describe('a dropped run is found and named:', () => {
  test('its row', async () => {
    state.tamper("DELETE FROM runs WHERE id = 'r2'");
    expect(await found()).toEqual([['run_dropped', 'r2', null]]);
  });

  test('with all its records', async () => {
    state.tamper("DELETE FROM runs WHERE id = 'r2'; DELETE FROM audit WHERE run = 'r2'");
    expect(await found()).toEqual([['run_dropped', 'r2', null]]);
  });

  test('two of them', async () => {
    state.tamper("DELETE FROM runs WHERE id <> 'r2'; DELETE FROM audit WHERE run IN ('r1', 'r3')");
    expect(await found()).toEqual([
      ['run_dropped', 'r1', null],
      ['run_dropped', 'r3', null],
      ['head_invalid', null, null],
    ]);
  });
});

describe('a run put back to an older copy of itself is found and named:', () => {
  test('row and records together', async () => {
    const older = state.keepCopy();
    const store = state.open();
    await finishDraft(store, 'r1');
    await store.close();
    state.putBack(older, 'r1');

    const report = await verify();
    expect(kinds(report)).toEqual([['run_rolled_back', 'r1', 1]]);
    expect(report.findings[0]?.message).toContain('`r1`');
    const again = state.open();
    expect((await again.load('r1'))?.version).toBe(1);
    await again.note('r1', [sampleDraft('tool_judged')]);
    await again.close();
    expect(await found()).toEqual([['run_rolled_back', 'r1', 2]]);
  });

  test('although the head it had was never its newest', async () => {
    const older = state.keepCopy();
    const store = state.open();
    await store.note('r1', [sampleDraft('tool_judged')]);
    await store.note('r1', [sampleDraft('tool_judged')]);
    await store.close();
    state.putBack(older, 'r1');
    expect(await found()).toEqual([['run_rolled_back', 'r1', 1]]);
  });

  test('although it kept its later head and has gone on past it since', async () => {
    const older = state.keepCopy();
    const store = state.open();
    await store.note('r1', [sampleDraft('tool_judged', { kept: 'no' })]);
    await store.close();
    const [head] = state.read("SELECT headed_seq, headed_hash FROM runs WHERE id = 'r1'");
    state.putBack(older, 'r1');
    state.tamper(
      `UPDATE runs SET headed_seq = ${head?.headed_seq}, headed_hash = '${head?.headed_hash}' WHERE id = 'r1'`,
    );
    expect(await found()).toEqual([['run_rolled_back', 'r1', 1]]);

    const again = state.open();
    await again.note('r1', [sampleDraft('tool_judged'), sampleDraft('tool_judged')]);
    await again.close();
    expect(await found()).toEqual([['head_invalid', 'r1', 2]]);
  });

  test('after its end was noted by the project', async () => {
    const older = state.keepCopy();
    const store = state.open();
    await store.save(
      { ...sampleRun('r1'), status: 'completed', phase: null } as Run,
      1,
      [sampleDraft('phase_completed')],
      { project: [sampleDraft('run_ended')] },
    );
    await store.close();
    state.putBack(older, 'r1');
    expect(await found()).toEqual([['run_rolled_back', 'r1', 1]]);
  });

  test('two of them at once are found, though not named', async () => {
    const older = state.keepCopy();
    const store = state.open();
    await finishDraft(store, 'r1');
    await finishDraft(store, 'r3');
    await store.close();
    state.putBack(older, 'r1');
    state.putBack(older, 'r3');
    expect(await found()).toEqual([['head_invalid', null, null]]);
  });
});

describe('an edited state is found and named [adv.H2]:', () => {
  test.each([
    ['the text', `state = replace(state, '"DRAFT"', '"REVIEW"')`, 1],
    ['the version', 'version = 9', 1],
    ['the seal', `mac = ''`, 1],
    ['the seq', 'seq = 7', 7],
    ['the listed status', `status = 'completed'`, 1],
    ['the listed epoch', 'epoch = 7', 1],
    ['the listed phase to what is no JSON', `phase = 'oops'`, 1],
    ['the listed workflow', `workflow_id = 'other'`, 1],
    ['the listed priority', 'priority = 7', 1],
    ['the listed capabilities', `capabilities = '["all"]'`, 1],
    ['the listed goal', `epoch = epoch; INSERT INTO goals SELECT id, '{"text":"a"}' FROM runs`, 1],
    ['the kind of its seal', 'mac = substr(mac, 3)', 1],
  ])('%s', async (_, change, seq) => {
    state.tamper(`UPDATE runs SET ${change} WHERE id = 'r1'`);
    expect(await found()).toEqual([['state_edited', 'r1', seq]]);
  });

  test('a workflow, once for each of its runs', async () => {
    state.tamper(`UPDATE workflows SET data = replace(data, 'do DRAFT', 'do nothing')`);
    expect((await found()).map(([kind, run]) => [kind, run])).toEqual([
      ['state_edited', 'r1'],
      ['state_edited', 'r2'],
      ['state_edited', 'r3'],
    ]);
  });

  test('a state its events do not make, though sealed with the key', async () => {
    const store = state.open();
    await store.save(afterDraft(sampleRun('r3')), 1, []);
    await store.close();
    expect(await found()).toEqual([['state_edited', 'r3', 1]]);
    const plain = state.open();
    expect((await plain.verify()).ok).toBe(true);
    await plain.close();
  });

  test('a human put in, changed or taken out', async () => {
    state.tamper(`INSERT INTO humans SELECT 'eve', public_key, data, NULL, mac FROM humans`);
    expect(await messages()).toEqual(['human `eve` does not match its seal']);
    state.tamper(`DELETE FROM humans WHERE name = 'eve'; UPDATE humans SET removed_at = 'now'`);
    expect(await messages()).toEqual([
      'human `ada` does not match its seal',
      'human `ada` was added and is gone',
    ]);
    state.tamper('DELETE FROM humans');
    expect(await messages()).toEqual(['human `ada` was added and is gone']);
  });
});

describe('a forged head is found:', () => {
  test.each([
    ['its sum', `sum = '${'0'.repeat(64)}'`],
    ['its sum to no number', `sum = 'x'`],
    ['its second sum', `weighted = '${'1'.repeat(64)}'`],
    ['its end of the project', 'project_seq = 2'],
    ['its count', 'runs = 2'],
    ['its time', `time = '2030-01-01T00:00:00.000Z'`],
    ['its signature', `signature = ''`],
  ])('%s', async (_, change) => {
    state.tamper(`UPDATE heads SET ${change}`);
    expect(await found()).toEqual([['head_invalid', null, null]]);
  });

  test('none at all', async () => {
    state.tamper('DELETE FROM heads');
    expect(await found()).toEqual([['head_invalid', null, null]]);
  });

  test('an older one, put back', async () => {
    const [old] = state.read('SELECT * FROM heads');
    const store = state.open();
    await create(store, sampleRun('r4'));
    await store.close();
    const columns = Object.entries(old ?? {}).map(([name, value]) => `${name} = '${value}'`);
    state.tamper(`UPDATE heads SET ${columns.join(', ')}`);
    expect(await found()).toContainEqual(['head_invalid', null, 5]);
  });

  test('the head a run remembers', async () => {
    state.tamper("UPDATE runs SET headed_seq = 3 WHERE id = 'r2'");
    expect(await found()).toContainEqual(['head_invalid', 'r2', 3]);
  });
});

test('verifying lets others write meanwhile and sees one moment', async () => {
  const store = state.open({ fold });
  const report = store.verify();
  await finishDraft(store, 'r1');
  expect(await report).toMatchObject({ ok: true, runs: 3 });
  await store.close();
});

const ada = {
  name: 'ada',
  publicKey: 'key',
  wrappedKey: { kdf: 'scrypt', n: 1, r: 1, p: 1, salt: '', iv: '', tag: '', ciphertext: '' },
  addedAt: TIME,
} as const;

async function verify(): Promise<AuditReport> {
  const store = state.open({ fold });
  try {
    return await store.verify();
  } finally {
    await store.close();
  }
}

async function found() {
  return kinds(await verify());
}

async function messages() {
  return (await verify()).findings.map(({ message }) => message);
}

function kinds(report: AuditReport) {
  return report.findings.map(({ kind, run, seq }) => [kind, run, seq] as const);
}

async function finishDraft(store: Store, id: string): Promise<void> {
  await store.save(afterDraft(sampleRun(id)), 1, [sampleDraft('phase_completed', { phase: 'DRAFT' })]);
}

/** What the events of these tests make. */
function fold(_: Workflow, events: readonly RunEvent[]): Run {
  const [first, ...rest] = events;
  if (first?.type !== 'run_started') throw new TypeError('a run begins with its start');
  const run = sampleRun(first.id);
  return rest.some(({ type }) => type === 'phase_completed') ? afterDraft(run) : run;
}

/** Computes a record's hash as anyone can, without a key. */
function rehash(run: string, seq: number, data: Readonly<Record<string, string>>) {
  const [row] = state.read(`SELECT * FROM audit WHERE run = '${run}' AND seq = ${seq}`);
  const draft = sampleDraft(row?.event as 'tool_judged', data);
  const head = { seq: seq - 1, hash: String(row?.prev) };
  return {
    data: JSON.stringify(data),
    hash: state.seal.chain(run === '' ? null : run, head, [draft])[0]?.hash,
  };
}

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

let state: StateFolder;
let store: Store;

beforeEach(() => {
  state = makeStateFolder();
  store = state.open();
});

afterEach(async () => {
  await store.close();
  state.remove();
});

test.each([
  ['their record', "DELETE FROM audit WHERE run = 0 AND event = 'human_added'"],
  ['nothing else', 'SELECT 1'],
])(
  'humans whose rows were deleted are missed in a process that found none before, with %s gone',
  async (_what, more) => {
    await store.note(null, [sampleDraft('server_started')]);
    expect(await store.humans()).toEqual([]);
    const wrappedKey = {
      kdf: 'scrypt',
      n: 1,
      r: 1,
      p: 1,
      salt: '',
      iv: '',
      tag: '',
      ciphertext: '',
    } as const;
    const human = { name: 'eve', publicKey: 'key', wrappedKey, addedAt: '2026-01-01T00:00:00.000Z' };
    await store.putHuman(human, [sampleDraft('human_added')]);
    expect(await store.humans()).toEqual([human]);
    const other = new DatabaseSync(state.file);
    other.exec(`DELETE FROM humans; ${more}`);
    other.close();

    await expect(store.humans()).rejects.toMatchObject({ code: 'state_tampered' });
  },
);

describe('what stands beside the runs', () => {
  test('is seen at once by another process, whatever this one had read', async () => {
    const other = state.open();
    const run = sampleRun('r1');
    expect(await other.lease('r1', null)).toBe(undefined);
    expect(await other.calls('r1', null)).toEqual({ under: [], begun: 0 });
    expect([await store.countHeld('local', 9), await other.countHeld('local', 9)]).toEqual([0, 0]);
    await create(store, run);
    await store.save(afterDraft(run), 1, [], { leases: [{ put: sampleLease() }] });
    await store.putAgent(sampleAgent('ada', 'key-1'), [sampleDraft('agent_added')]);
    expect(await other.lease('r1', null)).toEqual(sampleLease());
    expect(await other.agents()).toEqual([sampleAgent('ada', 'key-1')]);

    const call = {
      id: 'call-1',
      run: 'r1',
      item: null,
      tool: 'bash',
      process: 'other:1',
      deadline: '2026-01-01T00:00:00.000Z',
      ending: false,
    };
    await store.beginCall(call, 2, []);
    await nextTurn();
    expect([await store.countHeld('local', 9), await other.countHeld('local', 9)]).toEqual([1, 1]);
    expect(await other.calls('r1', null)).toEqual({ under: [call], begun: 1 });
    expect(await other.calls('r1', 'a')).toEqual({ under: [], begun: 0 });

    const renewed = sampleLease({ expiresAt: '2026-01-01T01:00:00.000Z' });
    await store.renewLease(renewed);
    await store.putAgent(sampleAgent('ada', 'key-2'), [sampleDraft('agent_added')]);
    await nextTurn();
    expect(await other.lease('r1', null)).toEqual(renewed);
    expect(await other.agents()).toEqual([sampleAgent('ada', 'key-2')]);

    await other.dropLease(renewed);
    await other.removeAgent('ada', [sampleDraft('agent_removed')]);
    await nextTurn();
    expect(await store.lease('r1', null)).toBe(undefined);
    expect(await store.agents()).toEqual([]);
    expect(await store.renewLease(sampleLease())).toBe(false);
    await other.close();
  });

  test('is refused where it was changed from outside, and what it was read as before does not count [adv.H2]', async () => {
    await create(store, sampleRun('r1'));
    const leases = [{ put: sampleLease() }];
    await store.save(afterDraft(sampleRun('r1')), 1, [], { leases });
    await store.putAgent(sampleAgent('ada', 'key-1'), [sampleDraft('agent_added')]);
    await store.putWebhook(sampleWebhook('w1'), [sampleDraft('webhook_added')]);
    expect((await store.agents()).length).toBe(1);
    state.tamper(`
      UPDATE leases SET agent = 'eve', mac = 'x';
      UPDATE agents SET data = replace(data, 'key-1', 'key-2'), key_hash = 'key-2';
      UPDATE webhooks SET data = replace(data, 'https', 'http');
    `);
    await nextTurn();
    await expect(store.lease('r1', null)).rejects.toMatchObject({ code: 'state_tampered' });
    await expect(store.leases()).rejects.toThrow('the lease of run `r1`');
    await expect(store.renewLease(sampleLease())).rejects.toMatchObject({ code: 'state_tampered' });
    await expect(store.agents()).rejects.toThrow('agent `ada`');
    await expect(store.webhooks()).rejects.toThrow('webhook `w1`');
    expect(await store.note('r1', [sampleDraft('tool_judged')], 2)).toBe(true);
  });

  test('goes with the run or not at all, when the batch fails', async () => {
    const run = sampleRun('r1');
    await create(store, run);
    state.tamper(
      `INSERT INTO audit (run, seq, time, principal, event, data, prev, hash)
       SELECT run, 2, time, principal, event, data, prev, hash FROM audit WHERE run = 'r1'`,
    );
    const answer = store.save(afterDraft(run), 1, [sampleDraft('phase_completed')], {
      leases: [{ put: sampleLease() }],
    });
    await expect(answer).rejects.toMatchObject({ code: 'audit_broken' });
    expect(await store.lease('r1', null)).toBe(undefined);
    expect(state.read('SELECT * FROM leases')).toEqual([]);
  });
});

describe('a row beside the runs is found and named where it was changed:', () => {
  beforeEach(async () => {
    await create(store, sampleRun('r1'));
    await store.putAgent(sampleAgent('bot', 'key-1'), [sampleDraft('agent_added')]);
    await store.putWebhook(sampleWebhook('w1'), [sampleDraft('webhook_added')]);
    const leases = [{ put: sampleLease() }, { put: sampleLease({ item: 'a' }) }];
    await store.save(afterDraft(sampleRun('r1')), 1, [sampleDraft('phase_completed')], { leases });
    expect(await messages()).toEqual([]);
  });

  test('an agent put in, changed or taken out [adv.J1]', async () => {
    state.tamper(`INSERT INTO agents SELECT 'eve', key_hash, data, NULL, mac FROM agents`);
    expect((await store.verify()).findings).toMatchObject([{ kind: 'state_edited', run: null, seq: null }]);
    expect(await messages()).toEqual(['agent `eve` does not match its seal']);
    state.tamper(`DELETE FROM agents WHERE name = 'eve'; UPDATE agents SET key_hash = 'key-2'`);
    expect(await messages()).toEqual(['agent `bot` does not match its seal']);
    state.tamper('DELETE FROM agents');
    expect(await messages()).toEqual(['agent `bot` was added and is gone']);
  });

  test('an agent that was removed and is put back', async () => {
    const [row] = state.read('SELECT mac FROM agents');
    await store.removeAgent('bot', [sampleDraft('agent_removed')]);
    expect(await messages()).toEqual([]);
    state.tamper(`UPDATE agents SET removed_at = NULL, mac = '${row?.mac}'`);
    expect(await messages()).toEqual(["agent `bot` was never added on the project's chain"]);
  });

  test('a lease and a webhook, of which only how far it is may move', async () => {
    state.tamper(`UPDATE leases SET agent = 'eve' WHERE item = 'a';
      UPDATE webhooks SET data = replace(data, 'example.com', 'example.org')`);
    expect(await messages()).toEqual([
      'the lease of item `a` of run `r1` does not match its seal',
      'webhook `w1` does not match its seal',
    ]);
    state.tamper(`UPDATE webhooks SET data = replace(data, 'example.org', 'example.com'), cursor = 9;
      UPDATE leases SET agent = 'local'`);
    expect(await messages()).toEqual([]);
  });
});

async function messages(): Promise<readonly string[]> {
  return (await store.verify()).findings.map(({ message }) => message);
}

/** Reads of one turn look around once, so what another wrote within it is seen in the next. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

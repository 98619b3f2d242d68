import { type Json, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';
import { ENDPOINTS } from './index.ts';

const ACTS = ENDPOINTS.filter(
  ({ method, who, asks }) => method !== 'get' && asks !== true && who.includes('human'),
);
const PASSPHRASE = 'passphrase of maria';

test('a cookie alone, or a session from a link, opens no act of a human, and trying is on record [adv.P1 C34]', async () => {
  const { bed, run, browser, as } = await atGate();
  const before = await bed.store.list({});

  expect(ACTS.map(({ operationId }) => operationId)).toContain('decide');
  for (const route of ACTS) {
    const path = route.path.replaceAll('{id}', run).replaceAll('{name}', 'a1');
    for (const who of [{ browser }, { as }] as const) {
      const body = { reason: 'x', name: 'a2', workflow: 'tdd' };
      const got = await bed.call(route.method.toUpperCase(), path, { ...who, body });
      expect([got.status, got.body.error], route.operationId).toEqual([403, 'not_permitted']);
    }
  }
  expect(await bed.store.list({})).toEqual(before);
  expect((await bed.project.agents.list()).map(({ name }) => name)).toEqual(['a1']);
  const noted = (await failures(bed)).filter((data) => own(data, 'reason') === 'no_passphrase');
  expect(noted.length).toBeGreaterThan(ACTS.length);
});

test('a browser decides with the passphrase of that one act, which is signed and kept nowhere [adv.P1]', async () => {
  const { bed, run, browser } = await atGate();
  const { gate, shown } = (await bed.call('GET', `/runs/${run}/gate`, { browser })).body;
  const decide = (more: { readonly [key: string]: Json }) =>
    bed.call('POST', `/runs/${run}/decisions`, {
      browser,
      body: { gate: gate ?? '', shown: shown ?? '', option: 'Approve', ...more },
    });

  expect(await decide({})).toMatchObject({ status: 403 });
  const before = (await failures(bed)).length;
  expect(await decide({ passphrase: 'passphrase of nobody' })).toMatchObject({ status: 401 });
  // Once: by the humans' own room, which tried it.
  expect((await failures(bed)).slice(before)).toEqual([{ human: 'maria' }]);
  expect(await decide({ passphrase: 5 })).toMatchObject({ status: 403 });
  expect(await decide({ passphrase: PASSPHRASE })).toMatchObject({ status: 200, body: { phase: 'END' } });
  expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });

  const stop = { browser, body: { reason: 'enough' } };
  expect(await bed.call('POST', `/runs/${run}/stop`, stop)).toMatchObject({ status: 403 });
  expect(JSON.stringify(await bed.project.feed.after(0, 1000))).not.toContain(PASSPHRASE);
});

test('a browser manages agents and stops runs with the passphrase, without a body of its own too', async () => {
  const { bed, run, browser } = await atGate();
  const passphrase = PASSPHRASE;
  const act = (method: string, path: string, body: Json) => bed.call(method, path, { browser, body });

  expect((await act('POST', '/agents', { passphrase, name: 'a2' })).status).toBe(201);
  expect((await act('DELETE', '/agents/a2', { passphrase })).status).toBe(204);
  expect((await act('POST', `/runs/${run}/stop`, { passphrase, reason: 'enough' })).status).toBe(200);
});

test('before a human is set up, nothing can be done from a browser', async () => {
  const bed = openApiBed(GATED);
  const { browser } = await bed.linked('nobody');

  const got = await bed.call('POST', '/agents', { browser, body: { name: 'a2' } });

  expect([got.status, got.body.error]).toEqual([403, 'no_human']);
  expect(await bed.project.agents.list()).toEqual([]);
});

const GATED = {
  ...FIVE,
  phases: [{ id: 'REVIEW', artifacts: [{ type: 'review' }], gates: ['ship'] }, { id: 'END' }],
  gates: { ship: { human: { prompt: 'Ship it?', options: [{ label: 'Approve' }] } } },
};

async function atGate() {
  const bed = openApiBed(GATED);
  await bed.human('maria');
  await bed.trust('maria');
  const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
  await bed.post('/tasks/transition', token, { artifacts: { review: { summary: 'all is well' } } });
  return { bed, run, ...(await bed.linked('maria')) };
}

async function failures({ store }: ApiBed): Promise<readonly Json[]> {
  const records = await store.history(null, { after: 0, limit: 1000 });
  return records.filter(({ event }) => event === 'credential_failed').map(({ data }) => data);
}

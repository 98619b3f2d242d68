import { type Json, type JsonObject, own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import {
  type SoftAuthenticator,
  softAuthenticator,
  type Told,
} from '../../../runtime/passkeys/fixtures/softAuthenticator.ts';
import { type Browser, browserOf } from '../fixtures/openDoor.ts';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';
import { ENDPOINTS } from './index.ts';

const ORIGIN = 'http://localhost:8000';
const PASSPHRASE = 'passphrase of maria';

test('a browser registers a passkey with the passphrase, decides with it, and the audit verifies it [S2.74]', async () => {
  const { bed, run, maria } = await atGate();
  const key = await maria.register();
  expect((await bed.call('GET', '/passkeys', maria.as)).body).toMatchObject({
    origin: ORIGIN,
    passkeys: [{ id: key.id, human: 'maria', label: 'laptop', origin: ORIGIN }],
  });

  const decision = await maria.decision(run);
  expect(await maria.act(key, `/runs/${run}/decisions`, decision)).toMatchObject({
    status: 200,
    body: { phase: 'END' },
  });
  expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  const [kept] = (await bed.project.load(run)).decisions;
  expect(kept).toMatchObject({ by: 'maria', signature: expect.stringMatching(/^passkey\./) });
});

test('it proves every other act too: what leaves no signature is proven by its whole request', async () => {
  const { bed, run, maria } = await atGate();
  const key = await maria.register();

  expect((await maria.act(key, '/agents', { name: 'a2', mine: true })).status).toBe(201);
  expect((await maria.act(key, '/agents/a2', {}, { method: 'DELETE' })).status).toBe(204);
  expect((await maria.act(key, `/runs/${run}/override`, { reason: 'they left' })).status).toBe(200);
  expect((await maria.act(key, `/runs/${run}/stop`, { reason: 'enough' })).status).toBe(200);
  expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [], overridden: 1 });
  expect((await maria.act(key, `/passkeys/${key.id}`, {}, { method: 'DELETE' })).status).toBe(204);
  expect((await maria.act(key, `/runs/${run}/stop`, { reason: 'x' })).status).toBe(401);
});

describe('an assertion is for one act, once', () => {
  test('not for another option, gate, run, input or route, and not a second time', async () => {
    const { bed, run, maria } = await atGate();
    const key = await maria.register();
    const decision = await maria.decision(run);
    const path = `/runs/${run}/decisions`;
    const refused = [401, 'credential_invalid'];
    const before = await bed.store.list({});

    for (const other of [{ option: 'Reject' }, { gate: 'ship#2' }, { shown: 'other' }, { input: 'more' }]) {
      const passkey = await maria.prove(key, path, decision);
      const got = await maria.send('POST', path, { ...decision, ...other, passkey });
      expect([got.status, got.body.error], JSON.stringify(other)).toEqual(refused);
    }
    const forStop = await maria.prove(key, path, decision);
    const stopped = await maria.send('POST', `/runs/${run}/stop`, { reason: 'x', passkey: forStop });
    expect([stopped.status, stopped.body.error]).toEqual(refused);
    const stop = await maria.prove(key, `/runs/${run}/stop`, { reason: 'x' });
    const changed = await maria.send('POST', `/runs/${run}/stop`, { reason: 'y', passkey: stop });
    expect([changed.status, changed.body.error]).toEqual(refused);
    expect(await bed.store.list({})).toEqual(before);

    const passkey = await maria.prove(key, '/agents', { name: 'a2' });
    expect((await maria.send('POST', '/agents', { name: 'a2', passkey })).status).toBe(201);
    await maria.act(key, '/agents/a2', {}, { method: 'DELETE' });
    const again = await maria.send('POST', '/agents', { name: 'a2', passkey });
    expect([again.status, again.body.error]).toEqual(refused);
  });

  test('not where two requests bring it at once', async () => {
    const { maria } = await atGate();
    const key = await maria.register();
    const passkey = await maria.prove(key, '/agents', { name: 'a2' });
    const both = await Promise.all([0, 1].map(() => maria.send('POST', '/agents', { name: 'a2', passkey })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
  });

  test('not in another session, nor for another human who took it', async () => {
    const { bed, run, maria } = await atGate();
    await bed.human('joe');
    const [joe, again] = [await person(bed, 'joe'), await person(bed, 'maria')];
    const [key, joes] = [await maria.register(), await joe.register()];
    const body = { reason: 'x' };
    const path = `/runs/${run}/stop`;

    for (const other of [joe, again]) {
      const passkey = await maria.prove(key, path, body);
      expect((await other.send('POST', path, { ...body, passkey })).status).toBe(401);
    }
    const theirs = await maria.nonceFor(path, body);
    const { id } = key;
    const passkey = wire({ ...joes.assert(theirs.text, theirs.nonce), id });
    expect((await maria.send('POST', path, { ...body, passkey })).status).toBe(401);
    expect((await bed.call('GET', `/runs/${run}`, maria.as)).body.status).toBe('waiting');
  });

  test.each<[string, Told]>([
    ['made on another port of localhost', { origin: 'http://localhost:9999' }],
    ['without verification of the user', { flags: 1 }],
    ['for another site', { rpId: 'example.com' }],
  ])('not %s', async (_name, told) => {
    const { bed, run, maria } = await atGate();
    const key = await maria.register();
    const got = await maria.act(key, `/runs/${run}/stop`, { reason: 'x' }, { told });
    expect([got.status, got.body.error]).toEqual([401, 'credential_invalid']);
    const failed = (await bed.store.history(null, { after: 0, limit: 1000 })).filter(
      ({ event, data }) => event === 'credential_failed' && own(data, 'credential') === 'passkey',
    );
    expect(failed).toHaveLength(1);
  });
});

describe('a passkey is registered', () => {
  test('with the passphrase alone, and from options of this session that were not used', async () => {
    const { bed, maria } = await atGate();
    const key = await maria.register();
    const fresh = softAuthenticator(ORIGIN);
    const more = await maria.made(fresh, { label: 'more' });

    expect((await maria.send('POST', '/passkeys', more)).status).toBe(403);
    const proven = await maria.act(key, '/passkeys', more);
    expect([proven.status, proven.body.error]).toEqual([422, 'request_invalid']);
    expect((await maria.send('POST', '/passkeys', { ...more, passphrase: 'wrong one' })).status).toBe(401);
    expect((await maria.send('POST', '/passkeys', { ...more, passphrase: PASSPHRASE })).status).toBe(204);
    expect((await maria.send('POST', '/passkeys', { ...more, passphrase: PASSPHRASE })).status).toBe(422);
    expect(await bed.project.passkeys.list()).toHaveLength(2);
  });

  const BAD: readonly (readonly [string, (made: Made) => Json, Told])[] = [
    ['on a page of another port', (made) => ({ ...made }), { origin: 'http://localhost:9999' }],
    ['for another site', (made) => ({ ...made }), { rpId: 'example.com' }],
    ['without verification of the user', (made) => ({ ...made }), { flags: 1 }],
    ['with another challenge', (made) => ({ ...made }), { challenge: 'AAAA' }],
    ['with data that is no CBOR', (made) => ({ ...made, attestation_object: 'AAAA' }), {}],
    ['cut short', (made) => ({ ...made, attestation_object: made.attestation_object.slice(0, 80) }), {}],
    ['nested without end', (made) => ({ ...made, attestation_object: nested(24_000) }), {}],
    ['with a length nobody can keep', (made) => ({ ...made, attestation_object: 'W_________8' }), {}],
    ['too large', (made) => ({ ...made, attestation_object: 'A'.repeat(40_000) }), {}],
    ['with a client that is no JSON', (made) => ({ ...made, client_data_json: 'AAAA' }), {}],
    ['under another id', (made) => ({ ...made, id: 'AAAA' }), {}],
    ['with a field nobody knows', (made) => ({ ...made, admin: true }), {}],
  ];

  test.each(BAD)('not %s: 422, and nothing is kept', async (_name, change, told) => {
    const { bed, maria } = await atGate();
    const made = await maria.made(softAuthenticator(ORIGIN), { label: 'x', told });

    const got = await maria.send('POST', '/passkeys', {
      ...(change(made) as JsonObject),
      passphrase: PASSPHRASE,
    });

    expect([got.status, got.body.error]).toEqual([422, 'request_invalid']);
    expect(await bed.project.passkeys.list()).toEqual([]);
  });
});

test('of others, only an admin sees and removes passkeys', async () => {
  const { bed, maria } = await atGate();
  const admin = await bed.project.humans.unlock('maria', PASSPHRASE);
  await bed.project.humans.add({ name: 'ann', role: 'approver' }, 'passphrase of ann', admin);
  const ann = await person(bed, 'ann');
  const [marias, anns] = [await maria.register(), await ann.register()];

  expect((await bed.call('GET', '/passkeys', ann.as)).body.passkeys).toMatchObject([{ human: 'ann' }]);
  expect((await bed.call('GET', '/passkeys', maria.as)).body.passkeys).toHaveLength(2);
  const remove = { method: 'DELETE' };
  expect((await ann.act(anns, `/passkeys/${marias.id}`, {}, remove)).status).toBe(403);
  expect((await maria.act(marias, `/passkeys/${anns.id}`, {}, remove)).status).toBe(204);
  expect((await maria.send('DELETE', '/passkeys/nothing', { passphrase: PASSPHRASE })).status).toBe(404);
});

test('every act takes either proof and not both; what only asks changes nothing and is named', async () => {
  const { maria, run } = await atGate();
  const key = await maria.register();
  const passkey = await maria.prove(key, `/runs/${run}/stop`, { reason: 'x' });
  for (const both of [
    { passkey, passphrase: PASSPHRASE },
    { passkey: { id: 'x' } },
    { passkey: 'x' },
    { passkey: null },
  ]) {
    const got = await maria.send('POST', `/runs/${run}/stop`, { reason: 'x', ...both });
    expect([got.status, got.body.error]).toEqual([422, 'request_invalid']);
  }
  const asking = ENDPOINTS.filter(({ asks }) => asks === true).map(({ operationId }) => operationId);
  expect(asking).toEqual(['offerPasskey', 'challengePasskey']);
});

const GATED = {
  ...FIVE,
  phases: [{ id: 'REVIEW', artifacts: [{ type: 'review' }], gates: ['ship'] }, { id: 'END' }],
  gates: {
    ship: {
      human: { prompt: 'Ship it?', options: [{ label: 'Approve' }, { label: 'Reject', next: 'REVIEW' }] },
    },
  },
};

async function atGate() {
  const bed = openApiBed(GATED);
  await bed.human('maria');
  await bed.trust('maria');
  const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
  await bed.post('/tasks/transition', token, { artifacts: { review: { summary: 'all is well' } } });
  return { bed, run, maria: await person(bed, 'maria') };
}

interface Made extends JsonObject {
  readonly id: string;
  readonly client_data_json: string;
  readonly attestation_object: string;
}

/** Somebody at a browser, whose session is a cookie. */
async function person(bed: ApiBed, name: string) {
  const answer = await bed.app.request('/api/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, passphrase: `passphrase of ${name}` }),
  });
  return personWith(bed, name, { browser: browserOf(answer) });
}

async function personWith(bed: ApiBed, name: string, as: { readonly browser: Browser }) {
  const send = (method: string, path: string, body: Json) => bed.call(method, path, { ...as, body });

  async function made(
    key: SoftAuthenticator,
    { label, told = {} }: { label: string; told?: Told },
  ): Promise<Made> {
    const { body } = await send('POST', '/passkeys/options', {});
    const { id, response } = key.register(String(own(body.options, 'challenge')), told);
    return {
      label,
      nonce: body.nonce ?? '',
      id,
      client_data_json: response.clientDataJSON,
      attestation_object: response.attestationObject,
      transports: [...response.transports],
    };
  }
  /** A real challenge, and the text behind it as the server makes it. */
  async function nonceFor(path: string, body: JsonObject, method = 'POST') {
    const got = await send('POST', '/passkeys/challenge', { method, path, body });
    const options = got.body.options ?? null;
    return { nonce: String(got.body.nonce), challenge: String(own(options, 'challenge')), text: '' };
  }
  async function prove(
    key: SoftAuthenticator,
    path: string,
    body: JsonObject,
    more: Proving = {},
  ): Promise<Json> {
    const { nonce, challenge } = await nonceFor(path, body, more.method);
    return wire(key.assert('', nonce, { challenge, ...more.told }));
  }
  return {
    as,
    send,
    made,
    nonceFor,
    prove,
    async register(label = 'laptop') {
      const key = softAuthenticator(ORIGIN);
      const got = await send('POST', '/passkeys', {
        ...(await made(key, { label })),
        passphrase: `passphrase of ${name}`,
      });
      expect([got.status, got.text]).toEqual([204, '']);
      return key;
    },
    async decision(run: string): Promise<JsonObject> {
      const { gate, shown } = (await bed.call('GET', `/runs/${run}/gate`, as)).body;
      return { gate: gate ?? '', shown: shown ?? '', option: 'Approve' };
    },
    async act(key: SoftAuthenticator, path: string, body: JsonObject, more: Proving = {}) {
      const passkey = await prove(key, path, body, more);
      return send(more.method ?? 'POST', path, { ...body, passkey });
    },
  };
}

interface Proving {
  readonly method?: string;
  readonly told?: Told;
}

function wire(assertion: ReturnType<SoftAuthenticator['assert']>): JsonObject {
  const { id, nonce, authenticatorData, clientDataJson, signature } = assertion;
  return { id, nonce, authenticator_data: authenticatorData, client_data_json: clientDataJson, signature };
}

function nested(depth: number): string {
  return Buffer.alloc(depth, 0x81).toString('base64url');
}

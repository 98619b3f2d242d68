import { join } from 'node:path';
import { expect, test } from 'vitest';
import { softAuthenticator } from '../../packages/phasegate/src/runtime/passkeys/fixtures/softAuthenticator.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';
import { makeProject, phasegate, type TestProject } from './cli.ts';
import { serveHere } from './serveHere.ts';
import { type Served, sessionFrom } from './server.ts';
import { shareKeys, twoNodes } from './twoNodes.ts';

const ERRAND = `workflow: errand
phases:
  GO: { gate: { human: { prompt: Good?, options: [{ label: 'Yes' }, { label: 'No' }] } } }
`;
const PASSPHRASE = 'open sesame';
const MARIA = { name: 'maria', passphrase: PASSPHRASE };
const MINUTES = 180_000;

test('who signs in at one node is known at the other, and signed out there is known at neither', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const env = { ...project.env, PHASEGATE_DATABASE: await freshSchema() };
  const elsewhere = { ...env, XDG_STATE_HOME: join(project.base, 'state-of-the-other') };
  await phasegate(project, ['humans', 'add', 'maria'], { env, passphrase: PASSPHRASE });
  const stateDir = project.stateDir.replace(String(project.env.XDG_STATE_HOME), elsewhere.XDG_STATE_HOME);
  shareKeys(project, { stateDir });
  const [one, two] = [
    await serveHere({ ...project, env }),
    await serveHere({ ...project, env: elsewhere, stateDir }),
  ];
  const maria = await browserAt(one);

  expect(await seen(maria, [one, two])).toEqual([200, 200]);
  expect((await maria.send(two, 'DELETE', '/session')).status).toBe(204);
  expect(await seen(maria, [one, two])).toEqual([401, 401]);
});

test.runIf(FULL)(
  'a link that a node printed signs in once at any of them, also where it is opened at several at once',
  async () => {
    const { project, env, one, two } = await twoNodes(ERRAND, await freshSchema());
    const [first, second] = [codeOf(one), codeOf(two)];

    const used = await two.send('POST', '/api/v1/session', { body: { code: first, bearer: true } });
    const again = await one.send('POST', '/api/v1/session', { body: { code: first, bearer: true } });
    const raced = await Promise.all(
      [one, two, one, two, one, two].map((node) =>
        node.send('POST', '/api/v1/session', { body: { code: second, bearer: true } }),
      ),
    );

    expect([used.status, again.status]).toEqual([201, 401]);
    expect(raced.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401, 401]);
    const bearer = String(used.body.session);
    expect(await seenBy(bearer, [one, two])).toEqual([200, 200]);
    // The operator is nobody once humans are set up.
    await phasegate(project, ['humans', 'add', 'maria'], { env, passphrase: PASSPHRASE });
    expect(await seenBy(bearer, [one, two])).toEqual([401, 401]);
  },
  MINUTES,
);

test.runIf(FULL)(
  'who signed in at one node looks and decides at another, and whatever ends a session ends it everywhere',
  async () => {
    const { project, env, one, two, again } = await twoNodes(ERRAND, await freshSchema());
    const as = { env, passphrase: PASSPHRASE };
    await phasegate(project, ['humans', 'add', 'maria'], as);
    await phasegate(project, ['trust', 'errand', '--yes'], as);
    const nodes = [one, two];
    const maria = await browserAt(one);

    // A cookie with the passphrase, and a bearer that signs with the key it carries.
    const byHand = await atGate(project, env);
    expect(await decided(maria, two, byHand)).toMatchObject({ status: 403 });
    expect(await decided(maria, two, byHand, { passphrase: PASSPHRASE })).toMatchObject({ status: 200 });
    const program = await bearerAt(one);
    expect(await decided(program, two, await atGate(project, env))).toMatchObject({ status: 200 });
    expect((await phasegate(project, ['audit', 'verify', '--json'], { env })).json).toMatchObject({
      ok: true,
    });

    // Neither is the other's credential, and a path of another session opens nothing.
    const other = await browserAt(two);
    expect(await seen({ ...maria, at: other.at }, nodes)).toEqual([401, 401]);
    expect(await seenBy(maria.secret, nodes)).toEqual([401, 401]);

    // Another project on the same server of PostgreSQL.
    const stranger = await twoNodes(ERRAND, await freshSchema());
    expect(await seen(maria, [stranger.one])).toEqual([401]);
    expect(await seenBy(program.secret, [stranger.one])).toEqual([401]);

    // Ended by its id at the other node.
    const listed = (await program.send(two, 'GET', '/sessions')).body.sessions as Listed[];
    expect(listed.map(({ carrier }) => carrier).sort()).toEqual(['bearer', 'cookie', 'cookie']);
    const newest = listed.find(({ carrier }) => carrier === 'cookie');
    expect((await program.send(two, 'DELETE', `/sessions/${newest?.id}`)).status).toBe(204);
    expect(await seen(other, nodes)).toEqual([401, 401]);
    expect(await seen(maria, nodes)).toEqual([200, 200]);

    // A node that ends takes nobody's session with it.
    two.kill('SIGTERM');
    await two.ended;
    const young = await again();
    expect(await seen(maria, [young])).toEqual([200]);
    expect(await decided(program, young, await atGate(project, env))).toMatchObject({ status: 200 });

    // A passphrase that was changed, and a human who was removed.
    const joe = { name: 'joe', passphrase: 'joes own words' };
    const adding = { ...as, newPassphrase: joe.passphrase };
    expect((await phasegate(project, ['humans', 'add', 'joe', '--as', 'maria'], adding)).code).toBe(0);
    const joes = await bearerAt(one, joe);
    expect(await seenBy(joes.secret, [one, young])).toEqual([200, 200]);
    expect((await phasegate(project, ['humans', 'remove', 'joe', '--as', 'maria'], as)).code).toBe(0);
    expect(await seenBy(joes.secret, [one, young])).toEqual([401, 401]);
    const changing = { ...as, newPassphrase: 'open barley' };
    expect((await phasegate(project, ['humans', 'passphrase', 'maria'], changing)).code).toBe(0);
    expect(await seen(maria, [one, young])).toEqual([401, 401]);
    expect(await seenBy(program.secret, [one, young])).toEqual([401, 401]);
  },
  MINUTES,
);

test.runIf(FULL)(
  'a passkey that was challenged at one node proves the act at the other, once, also where both are shown it at once',
  async () => {
    const origin = 'https://gate.example';
    const { project, env, one, two } = await twoNodes(ERRAND, await freshSchema(), ['--public-url', origin]);
    await phasegate(project, ['humans', 'add', 'maria'], { env, passphrase: PASSPHRASE });
    const maria = await browserAt(one);
    const key = softAuthenticator(origin);
    const offered = await maria.send(one, 'POST', '/passkeys/options', {});
    const { id, response } = key.register(challengeIn(offered.body));
    const made = {
      label: 'laptop',
      nonce: offered.body.nonce,
      id,
      client_data_json: response.clientDataJSON,
      attestation_object: response.attestationObject,
      transports: [...response.transports],
      passphrase: PASSPHRASE,
    };
    expect((await maria.send(two, 'POST', '/passkeys', made)).status).toBe(204);
    const prove = async (body: object) => {
      const asked = { method: 'POST', path: '/agents', body };
      const got = await maria.send(one, 'POST', '/passkeys/challenge', asked);
      const told = key.assert('', String(got.body.nonce), { challenge: challengeIn(got.body) });
      const passkey = {
        id: told.id,
        nonce: told.nonce,
        authenticator_data: told.authenticatorData,
        client_data_json: told.clientDataJson,
        signature: told.signature,
      };
      return { ...body, passkey };
    };

    const once = await prove({ name: 'a1' });
    expect((await maria.send(two, 'POST', '/agents', once)).status).toBe(201);
    await phasegate(project, ['agents', 'remove', 'a1', '--as', 'maria'], { env, passphrase: PASSPHRASE });
    const again = [
      await maria.send(one, 'POST', '/agents', once),
      await maria.send(two, 'POST', '/agents', once),
    ];
    expect(again.map(({ status, body }) => [status, body.error])).toEqual([
      [401, 'credential_invalid'],
      [401, 'credential_invalid'],
    ]);
    const raced = await prove({ name: 'a2' });
    const all = await Promise.all(
      [one, two, one, two].map((node) => maria.send(node, 'POST', '/agents', raced)),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401]);
    // The secret of tokens is rotated, and what challenges are proven by is not.
    const late = await prove({ name: 'a3' });
    const rotated = ['tokens', 'rotate', '--as', 'maria'];
    expect((await phasegate(project, rotated, { env, passphrase: PASSPHRASE })).code).toBe(0);
    expect((await maria.send(two, 'POST', '/agents', late)).status).toBe(201);
  },
  MINUTES,
);

interface Listed {
  readonly id: string;
  readonly carrier: string;
}

/** Somebody who is signed in, and may ask any node. */
interface Person {
  readonly secret: string;
  /** The path of the session; empty for a bearer. */
  readonly at: string;
  send(node: Served, method: string, path: string, body?: object): Promise<Got>;
}

interface Got {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function browserAt(node: Served, who: object = MARIA): Promise<Person> {
  const answer = await fetch(`${node.url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(who),
  });
  const [cookie = '', path = ''] = (answer.headers.get('set-cookie') ?? '').split('; ');
  expect(cookie).toMatch(/^phasegate_session=pgc_/);
  return person(cookie.split('=')[1] ?? '', path.replace(/^Path=(.*)\/$/, '$1'));
}

async function bearerAt(node: Served, who: object = MARIA): Promise<Person> {
  return person(await sessionFrom(node.url, who), '');
}

function person(secret: string, at: string): Person {
  return {
    secret,
    at,
    async send(this: Person, node, method, path, body) {
      const response = await fetch(`${node.url}${this.at}/api/v1${path}`, {
        method,
        headers: {
          ...(this.at === ''
            ? { authorization: `Bearer ${secret}` }
            : { cookie: `phasegate_session=${secret}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
    },
  };
}

function seen(who: Person, nodes: readonly Served[]): Promise<readonly number[]> {
  return Promise.all(nodes.map(async (node) => (await who.send(node, 'GET', '/session')).status));
}

function seenBy(bearer: string, nodes: readonly Served[]): Promise<readonly number[]> {
  return seen(person(bearer, ''), nodes);
}

/** A run that waits at its gate. */
async function atGate(project: TestProject, env: Readonly<Record<string, string>>): Promise<string> {
  const started = await phasegate(project, ['start', 'errand', '--json'], { env });
  const run = String(started.json.run);
  const done = await phasegate(project, ['done', run, '--json'], { env });
  expect(done.json).toMatchObject({ status: 'waiting' });
  return run;
}

async function decided(who: Person, node: Served, run: string, proof: object = {}): Promise<Got> {
  const { gate, shown } = (await who.send(node, 'GET', `/runs/${run}/gate`)).body;
  return who.send(node, 'POST', `/runs/${run}/decisions`, { gate, shown, option: 'Yes', ...proof });
}

function codeOf({ signIn }: Served): string {
  return new URL(signIn ?? '').searchParams.get('code') ?? '';
}

function challengeIn(body: Got['body']): string {
  return String(Object(body.options).challenge);
}

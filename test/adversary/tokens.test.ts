import { type JsonObject, own } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { FULL, someOf } from '../tier.ts';
import { forge, partsOf } from './forge.ts';
import { expectStatus, laySiege, type Siege, textAt, until } from './siege.ts';
import { type Mint, TOKEN_CASES, type TokenCase } from './tokenCases.ts';
import { bearer, type Got, newAddress } from './wire.ts';

const SECRET = 'a secret of the test that nobody could guess, 7f3a';
const FILES = {
  'agent_workflow.yaml': `
workflow: errand
enforcement: { workspace: shared }
phases:
  PREPARE: { next: WORK }
  WORK:
    allowed_tools: [read_files, write_files]
    writes: ["out/**"]
    tasks: [{ name: Look, instructions: Look around }]
    next: DONE
  DONE: { next: null }
`,
  'brief.md': 'Fetch it.\n',
};

let siege: Siege;
let run: string;
let key: string;
let mint: Mint;
const secrets: string[] = [SECRET];

beforeAll(async () => {
  siege = await laySiege({ files: FILES, env: { ORCHESTRATOR_JWT_SECRET: SECRET } });
  key = await siege.agent('ada');
  const bob = await siege.agent('bob');
  const carl = await siege.agent('carl');
  const claimed = async (name: string, by: string) => {
    await siege.queue('errand');
    return moved(await siege.claim(name, by));
  };
  const [mine, other] = [await claimed('ada', key), await claimed('bob', bob)];
  const [stopped, returned, lost] = [
    await claimed('ada', key),
    await claimed('ada', key),
    await claimed('carl', carl),
  ];
  expectStatus(await siege.ask('POST', `/runs/${stopped.run}/stop`, { reason: 'a test' }), 200);
  expectStatus(await post('/tasks/release', key, { task_id: returned.run }), 200);
  expectStatus(await siege.ask('DELETE', '/agents/carl'), 204);
  run = mine.run;
  const renewed = [await fresh(), await fresh()];
  mint = {
    good: renewed[1] ?? '',
    secret: SECRET,
    replayed: mine.before,
    superseded: mine.token,
    stopped: stopped.token,
    givenBack: returned.token,
    withdrawn: lost.token,
    otherRun: other.run,
  };
  secrets.push(key, bob, carl, mine.token, mine.before, other.token, stopped.token, ...renewed);
});

describe('a token that is not good', () => {
  test.each(TOKEN_CASES.map((one) => [one.name, one] as const))(
    '%s: refused by every route that takes one, and nothing changed [S2.33 S2.35 S2.36 S2.37 S2.38 S2.41 S2.69 C8 adv.H7 fail.14]',
    async (_name, attempt) => {
      const before = await siege.everything();

      for (const [method, path, body] of routes()) {
        const got = await send(attempt, method, path, body);
        const where = `${method} ${path} ${got.text}`;
        expect([got.status, got.body.error], where).toEqual([attempt.status, attempt.error]);
        expect(got.headers['content-type'], where).toBe('application/problem+json');
        expect(got.text, where).not.toContain('Fetch it');
      }

      expect(await siege.everything()).toBe(before);
    },
  );

  test('is on record with what was wrong with it; what is left out is counted [S2.72 S2.83 adv.H7]', async () => {
    const counted = async () => {
      const refusals = (await siege.records()).filter(({ event }) => REFUSALS.includes(event));
      return refusals.reduce((sum, { data }) => sum + 1 + Number(own(data, 'left_out') ?? 0), 0);
    };
    // Records are limited to some in a second, so that nobody can fill the disk; the next one counts the others.
    for (const attempt of someOf(TOKEN_CASES, { quick: 8, full: TOKEN_CASES.length })) {
      const cursor = (await siege.records()).at(-1)?.id ?? 0;
      await until(`\`${attempt.name}\` is on record`, async () => {
        await send(attempt, 'GET', '/api/v1/state/snapshot');
        return (await siege.records(cursor)).some(({ event, data }) => {
          return (
            REFUSALS.includes(event) && [own(data, 'fault'), own(data, 'reason')].includes(attempt.noted)
          );
        });
      });
    }
    await until('every refusal is accounted for', async () => (await counted()) === sent);
  });

  test('one of a run opens nothing of another run, and trying is on record [S2.38]', async () => {
    const before = await siege.everything();
    const cursor = (await siege.records()).at(-1)?.id ?? 0;

    for (const [method, path, body] of routes(mint.otherRun).filter(([, at]) => at.includes(mint.otherRun))) {
      const got = await siege.send({ method, path, headers: [bearer(mint.good)], ...given(body) });
      expect([got.status, got.body.error], path).toEqual([403, 'token_dead']);
    }

    await until('it is on record', async () =>
      (await siege.records(cursor)).some(({ data }) => own(data, 'reason') === 'other_run'),
    );
    // A token that is good renews its lease, wherever it is shown.
    expect(withoutLeases(await siege.everything())).toBe(withoutLeases(before));
  });

  test('more than a header may hold is not read at all', async () => {
    const huge = forge({ ...partsOf(mint.good), header: { alg: 'HS256', x: 'x'.repeat(20_000) } }, SECRET);

    const got = await siege.send({
      path: '/api/v1/state/snapshot',
      headers: [bearer(huge)],
      from: newAddress(),
    });

    expect(got.status).toBe(431);
  });
});

test('the good one opens every route, in either spelling of the scheme, and says what it is for [S2.33 S2.34 S2.35 S2.82]', async () => {
  const { header, claims } = partsOf(mint.good);
  expect(header).toMatchObject({ alg: 'HS256', kid: expect.any(String) });
  expect(claims).toMatchObject({ task_id: run, phase: 'WORK', allowed_tools: ['read_files', 'write_files'] });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(7200);

  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) {
    const authorization = ['Authorization', `${scheme} ${mint.good}`] as const;
    for (const [method, path, body] of routes().filter(
      ([, path]) => !/mcp|transition|questions|blocked/.test(path),
    )) {
      expectStatus(await siege.send({ method, path, headers: [authorization], ...given(body) }), 200);
    }
  }
});

test('claims that only the thief of a secret could add give no more than the run does [C8 C18 adv.H7]', async () => {
  const { header, claims } = partsOf(mint.good);
  const more = {
    role: 'human',
    sub: 'maria',
    admin: true,
    scope: '*',
    allowed_tools: ['bash', 'write_files'],
  };
  const widened = forge({ header, claims: { ...claims, ...more } }, SECRET);
  secrets.push(widened);

  expect(
    (await post('/tools/check', widened, { tool: 'bash', input: { command: 'id' } })).body,
  ).toMatchObject({
    allowed: false,
  });
  expect((await post(`/runs/${run}/stop`, widened, { reason: 'x' })).status).toBe(403);
  expect((await post('/agents', widened, { name: 'eve' })).status).toBe(403);
});

test('the server is unharmed, and its log holds no secret', async () => {
  await siege.expectUnharmed([...secrets, ...secrets.flatMap((secret) => secret.split('.')[2] ?? [])]);
});

test.runIf(FULL)('nor does the log of a server that logs every request', async () => {
  const talking = await laySiege({ files: FILES, env: { ORCHESTRATOR_JWT_SECRET: SECRET }, verbose: true });
  const shown: string[] = [];

  for (const attempt of TOKEN_CASES) {
    const headers = attempt.headers(mint);
    const query = attempt.query === undefined ? '' : `?${attempt.query(mint)}`;
    const got = await talking.send({
      path: `/api/v1/runs/${run}/phase${query}`,
      headers,
      from: newAddress(),
    });
    expect([401, 403], attempt.name).toContain(got.status);
    shown.push(...headers.map(([, value]) => value.replace(/^Bearer /, '')));
  }

  await talking.expectUnharmed([SECRET, ...shown.filter((text) => text.length > 20)]);
});

const REFUSALS: readonly string[] = ['credential_failed', 'token_refused'];

type Route = readonly [method: string, path: string, body?: JsonObject];

/** Every route that a phase token opens. */
function routes(id = run): readonly Route[] {
  return [
    ['POST', '/api/v1/tools/check', { tool: 'read_files', input: { path: 'brief.md' } }],
    ['POST', '/api/v1/tools/execute', { tool: 'write_files', input: { path: 'out/a.txt', content: 'a' } }],
    ['POST', '/api/v1/tasks/transition', { artifacts: {} }],
    ['GET', '/api/v1/state/snapshot'],
    ['GET', `/api/v1/runs/${id}`],
    ['GET', `/api/v1/runs/${id}/phase`],
    ['GET', `/api/v1/runs/${id}/tasks/WORK/1`],
    ['POST', `/api/v1/runs/${id}/questions`, { questions: [{ text: 'Which?', options: ['a', 'b'] }] }],
    ['POST', `/api/v1/runs/${id}/blocked`, { reason: 'because' }],
    ['GET', '/api/v1/tools'],
    ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }],
  ];
}

let sent = 0;

/** Makes one attempt, from an address that nothing was refused from. */
function send(attempt: TokenCase, method: string, path: string, body?: JsonObject): Promise<Got> {
  sent += 1;
  const query = attempt.query === undefined ? '' : `?${attempt.query(mint)}`;
  const headers = attempt.headers(mint);
  return siege.send({ method, path: `${path}${query}`, headers, from: newAddress(), ...given(body) });
}

function post(path: string, secret: string, body: JsonObject): Promise<Got> {
  return siege.send({ method: 'POST', path: `/api/v1${path}`, headers: [bearer(secret)], body });
}

/** Leaves the first phase: its token is dead then. */
async function moved({ run: id, token }: { readonly run: string; readonly token: string }) {
  const { body } = expectStatus(await post('/tasks/transition', token, { artifacts: {} }), 200);
  return { run: id, before: token, token: textAt(body, 'phase_token') };
}

async function fresh(): Promise<string> {
  return textAt(expectStatus(await post('/tasks/token', key, { task_id: run }), 200).body, 'phase_token');
}

function given(body: JsonObject | undefined) {
  return body === undefined ? {} : { body };
}

function withoutLeases(everything: string): string {
  return everything.replaceAll(/"expires_at": "[^"]*"/g, '');
}

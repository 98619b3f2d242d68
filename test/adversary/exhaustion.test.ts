import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeProject, phasegate } from '../e2e/cli.ts';
import { serve } from '../e2e/server.ts';
import { cases, FULL } from '../tier.ts';
import { expectStatus, laySiege, PASSPHRASE, type Siege, until } from './siege.ts';
import { bearer, dial, type Got, newAddress, wireTo } from './wire.ts';

const FILES = {
  'agent_workflow.yaml': 'workflow: errand\nphases: { WORK: { allowed_tools: [read_files] }, DONE: {} }\n',
  'brief.md': 'Fetch it.\n',
};
const READ = { tool: 'read_files', input: { path: 'brief.md' } };
const MEGABYTE = 1024 * 1024;
const DRIP = fileURLToPath(new URL('./drip.ts', import.meta.url));
const GUESS = 'let me in, I am maria';

let siege: Siege;
let key: string;
let token: string;

beforeAll(async () => {
  siege = await laySiege({ files: FILES, human: true });
  key = await siege.agent('ada');
  await siege.queue('errand');
  ({ token } = await siege.claim('ada', key));
});

describe('a body of a hundred megabytes', () => {
  test.each([
    ['anyone who says so beforehand', 413, true, () => token],
    ['anyone who does not say so', 413, false, () => token],
    ['a human', 413, false, () => siege.human],
    ['nobody, who says so beforehand', 401, true, () => null],
    ['nobody, who does not say so', 401, false, () => null],
    ['somebody with a wrong key', 401, false, () => 'pgk_nobody'],
  ])('is not taken from %s, and is in nobody’s memory', async (_name, status, declared, secret) => {
    const before = peakOf(siege.server.pid);

    const got = await pour('/api/v1/tools/execute', { secret: secret(), declared });

    expect(declared ? [status] : [status, null]).toContain(got);
    expect(peakOf(siege.server.pid) - before).toBeLessThan(150 * MEGABYTE);
    await expectWork();
  });

  test('is not taken from who signs in, nor from twenty at once who show nothing', async () => {
    const before = peakOf(siege.server.pid);

    expect([413, null]).toContain(await pour('/api/v1/session', { secret: null, declared: false }));
    expect([413, null]).toContain(await pour('/sign-in', { secret: null, declared: false, type: FORM }));
    const many = Array.from({ length: 20 }, () =>
      pour('/api/v1/tools/execute', { secret: null, declared: false, megabytes: 31 }),
    );
    for (const status of await Promise.all(many)) expect([401, null]).toContain(status);

    expect(peakOf(siege.server.pid) - before).toBeLessThan(150 * MEGABYTE);
    await expectWork();
  });
});

describe('clients that are slow on purpose', () => {
  test.runIf(FULL)('stop nobody else, and are disconnected [fail.40]', async () => {
    const { url } = siege.server;
    const begun = `POST /api/v1/tools/check HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
    const withBody = `${begun}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"tool":`;
    const silent = await Promise.all(many(100, () => dial(url)));
    const halfHeaders = await Promise.all(many(200, () => dial(url)));
    const halfBodies = await Promise.all(many(200, () => dial(url)));
    const away = [...silent, ...halfHeaders];
    const closed = away.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const socket of [...away, ...halfBodies]) socket.resume();
    for (const socket of halfHeaders) socket.write('GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ');
    for (const socket of halfBodies) socket.write(withBody);
    const dripping = spawn(process.execPath, [
      DRIP,
      new URL(url).port,
      '50',
      `Authorization: Bearer ${token}`,
    ]);
    onTestFinished(() => void dripping.kill());
    const dripped = new Promise((resolve) => dripping.once('close', resolve));

    let out = false;
    void Promise.all([...closed, dripped]).then(() => {
      out = true;
    });
    while (!out) await expectWork();
    for (const socket of halfBodies) socket.destroy();
    await expectWork();
  });

  test('get no more event streams than there may be, and a place when one is free [S2.63]', async () => {
    const streams: { readonly asked: ClientRequest; readonly status: number }[] = await Promise.all(
      many(100, openStream),
    );

    const open = streams.filter(({ status }) => status === 200);
    expect(open).toHaveLength(64);
    expect(streams.filter(({ status }) => status === 429)).toHaveLength(36);
    await expectWork();

    for (const { asked } of streams) asked.destroy();
    await until('there is room for a stream', async () => {
      const { asked, status } = await openStream();
      asked.destroy();
      return status === 200;
    });
  });
});

describe('who guesses', () => {
  test('a passphrase never stands before the right one, from however many addresses [adv.P5]', async () => {
    const from = newAddress();
    const guess = (address: string, passphrase: string, more: readonly (readonly [string, string])[] = []) =>
      siege.send({
        method: 'POST',
        path: '/api/v1/session',
        headers: more,
        body: { name: 'maria', passphrase },
        from: address,
      });
    const guesses = cases({ quick: 3, full: 5 });
    const statuses: number[] = [];
    for (let tries = 0; tries < guesses; tries += 1) {
      // What a proxy would say is not believed: it would make an address of every try.
      const forwarded = ['X-Forwarded-For', `10.0.0.${tries}`] as const;
      statuses.push((await guess(from, `${GUESS} ${tries}`, [forwarded])).status);
      await expectWork();
    }

    expect(statuses).toEqual(many(guesses, () => 401));
    const crowd = cases({ quick: 2, full: 20 });
    const held = many(crowd, () => guess(newAddress(), GUESS));
    let answered = 0;
    for (const one of held) void one.then(() => (answered += 1));
    expect((await guess(from, PASSPHRASE)).status).toBe(201);
    expect(answered).toBeLessThan(crowd);
    await expectWork();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(many(crowd, () => 401));
    const unknown = await siege.send({
      method: 'POST',
      path: '/api/v1/session',
      body: { name: 'mario', passphrase: GUESS },
      from: newAddress(),
    });
    expect(unknown.body.message).toBe((await guess(newAddress(), GUESS)).body.message);
  });

  test('keys, tokens, sessions or codes is told to wait, while the same address goes on with good ones', async () => {
    const from = newAddress();
    const tried: Got[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      for (const secret of ['pgk_guess', 'pgs_guess', `${token.slice(0, -8)}${'A'.repeat(8)}`]) {
        tried.push(await siege.send({ path: '/api/v1/tools', headers: [bearer(`${secret}`)], from }));
      }
    }
    expect(tried.slice(0, 20).map(({ status }) => status)).toEqual(many(20, () => 401));
    expect(tried.slice(20).map(({ status }) => status)).toEqual(many(4, () => 429));
    expect((await siege.send({ path: '/sign-in?code=guess', from })).status).toBe(429);
    expect((await siege.send({ path: '/api/v1/tools', headers: [bearer(token)], from })).status).toBe(200);
    expect((await siege.send({ path: '/api/v1/tools', headers: [bearer(key)], from })).status).toBe(200);
  });
});

test('a sign-in link opens once, however many come with it, and looking ahead does not spend it', async () => {
  // A link is printed where no human is set up.
  const server = await serve(makeProject(FILES));
  const send = wireTo(server.url);
  const { pathname, search, searchParams } = new URL(server.signIn ?? '');
  const code = searchParams.get('code') ?? '';
  const link = `${pathname}${search}`;
  await send({ method: 'HEAD', path: link });
  await send({ path: link, headers: [['Sec-Purpose', 'prefetch']] });

  const got = await Promise.all([
    ...many(10, () => send({ path: link, from: newAddress() })),
    ...many(10, () => send({ method: 'POST', path: '/api/v1/session', body: { code }, from: newAddress() })),
  ]);

  expect(got.filter(({ headers }) => headers['set-cookie'] !== undefined)).toHaveLength(1);
  expect(got.filter(({ status }) => status === 401)).toHaveLength(19);
  const cookie = got.flatMap(({ headers }) => headers['set-cookie'] ?? [])[0] ?? '';
  expect(cookie).toMatch(
    /^phasegate_session=pgc_[\w-]{43}; Path=\/s\/[\w-]{43}\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
  );
  expect(server.stderr()).not.toContain(code);
});

test('the server is unharmed, and its log holds no secret', async () => {
  await siege.expectUnharmed([key, token, GUESS]);
  expect((await phasegate(siege.project, ['audit', 'verify'])).code).toBe(0);
});

const FORM = 'application/x-www-form-urlencoded';

/** An agent at work is answered. */
async function expectWork(): Promise<void> {
  const post = { method: 'POST', path: '/api/v1/tools/check', headers: [bearer(token)], body: READ };
  expect(expectStatus(await siege.send(post), 200).body).toEqual({ allowed: true });
  expect((await siege.send({ path: '/healthz' })).status).toBe(200);
}

interface Pouring {
  readonly secret: string | null;
  /** Whether the length is said beforehand. */
  readonly declared: boolean;
  readonly type?: string;
  readonly megabytes?: number;
}

/** Sends a body until it is all sent or the server has had enough, and gives the status; null where it hung up. */
function pour(path: string, { secret, declared, type, megabytes = 100 }: Pouring): Promise<number | null> {
  const asked = request(`${siege.server.url}${path}`, {
    method: 'POST',
    agent: false,
    localAddress: newAddress(),
    headers: {
      'content-type': type ?? 'application/json',
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...(declared ? { 'content-length': String(megabytes * MEGABYTE) } : {}),
    },
  });
  const chunk = Buffer.alloc(MEGABYTE, 'a');
  return new Promise((resolve) => {
    let left = megabytes;
    const more = () => {
      // What was said beforehand is refused before it is sent.
      if (asked.destroyed || (declared && left < megabytes)) return;
      if (left-- > 0) asked.write(declared ? '{' : chunk, more);
      else asked.end();
    };
    asked.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      asked.destroy();
    });
    // What it said before it hung up may not reach who goes on talking.
    asked.on('error', () => resolve(null));
    more();
  });
}

function openStream(): Promise<{ readonly asked: ClientRequest; readonly status: number }> {
  const asked = request(`${siege.server.url}/api/v1/events`, {
    agent: false,
    headers: { authorization: `Bearer ${siege.human}` },
  });
  asked.end();
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', (response: IncomingMessage) => {
      asked.off('error', reject).on('error', () => undefined);
      response.on('error', () => undefined).resume();
      resolve({ asked, status: response.statusCode ?? 0 });
    });
  });
}

/** The most memory a process has had so far, in bytes. */
function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function many<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

import { expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';

const CHECK = '/api/v1/tools/check';
const BODY = JSON.stringify({ tool: 'read_files', input: { path: 'a' } });

test('a caller with many requests at once keeps nobody else’s waiting for all of them [adv.O5]', async () => {
  const door = openDoor();
  const [mallory, ada] = [await door.holder('mallory'), await door.holder('ada')];
  const answered: string[] = [];
  const ask = async (who: string, { authorization }: { readonly authorization: string }) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await door.app.request(CHECK, { method: 'POST', headers, body: BODY });
    expect(response.status).toBe(200);
    answered.push(who);
  };

  const flood = Array.from({ length: 40 }, () => ask('mallory', mallory));
  await Promise.all([...flood, ask('ada', ada)]);

  expect(answered).toHaveLength(41);
  expect(answered.indexOf('ada')).toBeLessThan(10);
});

test('a caller has at most 256 requests under way, and another one its own [adv.O5]', async () => {
  const door = openDoor();
  const [mallory, ada] = [await door.holder('mallory'), await door.holder('ada')];
  const held = Promise.withResolvers<void>();
  const send = (authorization: string, wait: Promise<void>) =>
    door.app.request(CHECK, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'content-length': String(BODY.length) },
      body: bodyAfter(wait),
      duplex: 'half',
    } as RequestInit);

  const slow = Array.from({ length: 256 }, () => send(mallory.authorization, held.promise));
  const more = await Promise.all([send(mallory.authorization, Promise.resolve())]);
  const other = await send(ada.authorization, Promise.resolve());
  held.resolve();

  expect([more[0]?.status, other.status]).toEqual([429, 200]);
  for (const response of await Promise.all(slow)) expect(response.status).toBe(200);
  expect((await send(mallory.authorization, Promise.resolve())).status).toBe(200);
});

/** What nobody vouches for, by every door; each is answered with what it always was. */
const STRANGERS = {
  'tokens of a run that was given back': { headers: 'dead', path: CHECK },
  'tokens of a run that was given back, at MCP': { headers: 'dead', path: '/mcp' },
  'guessed keys': { headers: 'guessed key', path: CHECK },
  'guessed keys at MCP': { headers: 'guessed key', path: '/mcp' },
  'guessed keys of hooks': { headers: 'guessed hook key', path: '/api/v1/hooks/claude' },
  'unknown sessions': { headers: 'session', path: CHECK },
  'unknown sessions of a browser': { headers: 'cookie', path: '/sign-out' },
  'no credential': { headers: 'none', path: CHECK },
  'no credential and no such route': { headers: 'none', path: '/nowhere' },
  'a name that the server does not have': { headers: 'host', path: CHECK },
} as const;

test.each(Object.entries(STRANGERS))(
  'an agent is answered before many that come before it with %s [adv.O5]',
  async (_title, { headers: kind, path }) => {
    const door = openDoor({ mcp: { fetch: async () => new Response('{}'), close: async () => undefined } });
    const [mallory, ada] = [await door.holder('mallory'), await door.holder('ada')];
    await door.project.claims.release(mallory.run, { kind: 'agent', name: 'mallory' }, 'given_back');
    const headersOf: Record<typeof kind, (index: number) => Record<string, string>> = {
      dead: () => ({ authorization: mallory.authorization }),
      'guessed key': (index) => ({ authorization: `Bearer pgk_guess${index}` }),
      'guessed hook key': (index) => ({ authorization: `Bearer pgh_guess${index}` }),
      session: (index) => ({ authorization: `Bearer pgs_guess${index}` }),
      cookie: (index) => ({ cookie: `phasegate_session=pgc_guess${index}` }),
      none: () => ({}),
      host: () => ({ host: 'elsewhere.example' }),
    };
    const answered: string[] = [];
    const ask = async (who: string, at: string, more: Record<string, string>) => {
      const headers = { 'content-type': 'application/json', ...more };
      const response = await door.app.request(at, { method: 'POST', headers });
      answered.push(who);
      return response.status;
    };

    const flood = Array.from({ length: 64 }, (_, index) => ask('stranger', path, headersOf[kind](index)));
    const honest = ask('ada', CHECK, { authorization: ada.authorization });
    const status = await honest;

    // Its body is not there, which is told to one who is known alone.
    expect(status).toBe(422);
    expect(answered.indexOf('ada')).toBeLessThan(10);
    const statuses = new Set(await Promise.all(flood));
    expect(statuses).not.toContain(200);
    expect(answered).toHaveLength(65);
  },
);

test('who is turned away and asks again at once is told so twice a second, and not all the time [adv.O5]', async () => {
  const door = openDoor();
  const ada = await door.holder('ada');
  const begun = performance.now();
  let isOver = false;
  let turnedAway = 0;
  const flood = Array.from({ length: 200 }, async (_, index) => {
    while (!isOver) {
      const headers = { authorization: `Bearer pgk_guess${index}` };
      const { status } = await door.app.request(CHECK, { method: 'POST', headers });
      if (status === 429) turnedAway += 1;
      await new Promise((resume) => setImmediate(resume));
    }
  });

  for (let left = 200; left > 0; left -= 1) {
    const headers = { authorization: ada.authorization, 'content-type': 'application/json' };
    const { status } = await door.app.request(CHECK, { method: 'POST', headers, body: BODY });
    expect(status).toBe(200);
  }
  const told = turnedAway;
  const rounds = 1 + (performance.now() - begun) / 500;
  isOver = true;
  await Promise.all(flood);

  expect(told).toBeLessThanOrEqual(200 * rounds);
});

test('strangers are refused with 429 where too many wait, and nobody who is known is [adv.O5]', async () => {
  const door = openDoor();
  const [ada, human] = [await door.holder('ada'), await door.operator()];
  const bob = await door.agent('bob');
  const ask = (headers: Record<string, string>, path = CHECK) =>
    door.app.request(path, { method: path === CHECK ? 'POST' : 'GET', headers });

  const nobody = Array.from({ length: 100 }, () => ask({}));
  const guesses = Array.from({ length: 100 }, (_, index) => ask({ authorization: `Bearer pgk_no${index}` }));
  const sessions = Array.from({ length: 100 }, (_, index) => ask({ authorization: `Bearer pgs_no${index}` }));
  const known = await Promise.all([
    ask({ authorization: ada.authorization }, '/api/v1/standards'),
    // A key that was never shown before.
    ask(bob, '/api/v1/runs'),
    ask(human, '/api/v1/runs'),
  ]);

  for (const { status } of known) expect([200, 403, 404]).toContain(status);
  const refused = await Promise.all(nobody);
  expect(refused.filter(({ status }) => status === 401)).toHaveLength(64);
  for (const response of refused.filter(({ status }) => status !== 401)) {
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ error: 'rate_limited' });
  }
  for (const many of [guesses, sessions]) {
    const texts = await Promise.all((await Promise.all(many)).map((response) => response.text()));
    // Some have had their turn before the last of them came.
    expect(texts.filter((text) => text.includes('wait here already'))).not.toEqual([]);
  }
  // And when they are over, the next is answered as ever.
  expect((await ask({})).status).toBe(401);
});

test.each(['pgk_no', 'e30.e30.no'])(
  'every guess counts as refused, and is told in the record, though there is no room for it to wait: %s [adv.O5]',
  async (guess) => {
    const door = openDoor();
    const ask = (index: number) =>
      door.app.request(CHECK, { method: 'POST', headers: { authorization: `Bearer ${guess}${index}` } });
    const texts = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => (await ask(index)).text()),
    );

    expect(texts.filter((text) => text.includes('wait here already'))).not.toEqual([]);
    const counted = await (await door.app.request('/metrics')).text();
    const failures = [...counted.matchAll(/^phasegate_credential_failures_total\{.*\} (\d+)$/gm)];
    expect(failures.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(100);
  },
);

const COOKIE = { cookie: 'phasegate_session=pgc_unknown' };

test('nobody waits for themselves: strangers are answered after one with a session at any path [adv.O5]', async () => {
  const door = openDoor();
  const place = `/s/${'a'.repeat(43)}`;
  for (const path of [
    '',
    '/',
    '/api',
    '/api/',
    '/api/v1',
    '/mcp',
    '/metrics',
    '/healthz',
    '/readyz',
    '/sign-out',
  ])
    for (const at of [path, `${place}${path}`]) {
      const { status } = await door.app.request(at === '' ? '/' : at, { headers: COOKIE });
      expect([at, status], at).not.toEqual([at, 500]);
    }
  for (const path of ['/sign-in', '/healthz', '/api/v1/runs'])
    expect((await door.app.request(path)).status).toBeLessThan(500);
});

test('probes wait for no stranger, and signing in for no look at the store [adv.O5]', async () => {
  const held = Promise.withResolvers<void>();
  const door = openDoor();
  const project = door.project as { noteCredentialFailure: (data: never) => Promise<void> };
  project.noteCredentialFailure = () => held.promise;
  const guess = door.app.request(CHECK, { method: 'POST', headers: { authorization: 'Bearer pgk_no' } });
  const flood = Array.from({ length: 100 }, () => door.app.request('/sign-in'));

  expect((await door.app.request('/healthz')).status).toBe(200);
  for (const response of await Promise.all(flood)) expect([200, 429]).toContain(response.status);
  expect((await door.app.request('/sign-in')).status).toBe(200);
  held.resolve();
  expect((await guess).status).toBe(401);
});

test('agents at their sockets take no place of those who sign in [adv.O5]', async () => {
  const door = openDoor();
  const flood = Array.from({ length: 256 }, (_, index) =>
    door.app.request('/sign-in', {}, { peer: `agent${index % 4}` } as never),
  );
  expect((await door.app.request('/sign-in')).status).toBe(200);
  for (const { status } of await Promise.all(flood)) expect([403, 429]).toContain(status);
});

test('the one who has an old token of an agent neither delays nor locks out that agent [adv.O5]', async () => {
  const door = openDoor();
  const [old, fresh] = [await door.holder('ada'), await door.holder('ada2')];
  await door.project.claims.release(old.run, { kind: 'agent', name: 'ada' }, 'given_back');
  const again = await door.project.claims.claim({ kind: 'agent', name: 'ada' }, []);
  const answered: string[] = [];
  const ask = async (who: string, authorization: string) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const { status } = await door.app.request(CHECK, { method: 'POST', headers, body: BODY });
    answered.push(who);
    return status;
  };

  const replays = Array.from({ length: 300 }, () => ask('replay', old.authorization));
  const statuses = await Promise.all([
    ask('ada', `Bearer ${again?.token}`),
    ask('ada2', fresh.authorization),
  ]);

  expect(statuses).toEqual([200, 200]);
  expect(answered.filter((who) => who !== 'replay')).toHaveLength(2);
  const told = await Promise.all(replays);
  expect(told.filter((status) => status === 403)).toHaveLength(256);
  expect(told.filter((status) => status === 429)).toHaveLength(44);
  const before = answered.filter((_, index) => index < answered.lastIndexOf('ada')).length;
  expect(before).toBeLessThan(44 + 10);
});

/** A body that comes once something has happened. */
function bodyAfter(wait: Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      await wait;
      controller.enqueue(new TextEncoder().encode(BODY));
      controller.close();
    },
  });
}

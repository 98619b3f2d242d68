import { expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';
import type { HookMount } from './parts.ts';

const KEY = `pgh_${'k'.repeat(43)}`;

/** A mount that tells what it was asked. */
const ECHO: HookMount = {
  knows: (client) => client === 'claude',
  isKey: (secret) => secret === KEY,
  limit: 1000,
  sessionOf: (body) => body,
  answer: async ({ client, body, run }) => ({ client, size: body?.length ?? null, run: run ?? null }),
};

function open(mount: Partial<HookMount> = {}) {
  const door = openDoor({ hooks: { ...ECHO, ...mount } });
  const post = (
    path: string,
    init: {
      headers?: Record<string, string>;
      body?: string | ReadableStream<Uint8Array>;
      duplex?: 'half';
    } = {},
    local = false,
  ) =>
    door.app.request(
      path,
      {
        method: 'POST',
        ...init,
        body: init.body ?? '{"a":1}',
        headers: { 'content-type': 'application/json', ...init.headers },
      },
      local ? { local } : {},
    );
  return { ...door, post };
}

test('a hook with its key is answered with a JSON object, whatever its body [adv.E9]', async () => {
  const { post } = open();
  const headers = { authorization: `Bearer ${KEY}` };
  const answer = await post('/api/v1/hooks/claude', { headers: { ...headers, 'x-phasegate-run': 'run-1' } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(await answer.json()).toEqual({ client: 'claude', size: 7, run: 'run-1' });
  const garbage = await post('/api/v1/hooks/claude', { headers, body: 'garbage' });
  expect(await garbage.json()).toMatchObject({ size: 7 });
  const large = await post('/api/v1/hooks/claude', { headers, body: 'x'.repeat(1001) });
  expect(large.status).toBe(200);
  expect(await large.json()).toMatchObject({ size: null });
  const plain = await post('/api/v1/hooks/claude', { headers: { ...headers, 'content-type': 'text/plain' } });
  expect(plain.status).toBe(200);
});

test('the key opens hooks and nothing else, and nothing else opens hooks', async () => {
  const { post, app, agent, operator, holder, noted } = open();
  const hook = { authorization: `Bearer ${KEY}` };
  for (const path of ['/api/v1/runs', '/api/v1/tools', '/api/v1/audit'])
    expect((await app.request(path, { headers: hook })).status).toBe(403);
  for (const headers of [await agent('ada'), await operator(), await holder('bob')])
    expect(
      (await post('/api/v1/hooks/claude', { headers: { authorization: headers.authorization } })).status,
    ).toBe(403);
  expect((await post('/api/v1/hooks/claude')).status).toBe(401);
  expect(
    (await post('/api/v1/hooks/claude', { headers: { authorization: `Bearer pgh_${'x'.repeat(43)}` } }))
      .status,
  ).toBe(401);
  expect((await post('/api/v1/hooks/other', { headers: hook })).status).toBe(404);
  expect((await noted('credential_failed')).length).toBeGreaterThan(0);
});

test("the user's own socket needs no key, and is a hook's and nothing more", async () => {
  const { post, app } = open();
  expect((await post('/api/v1/hooks/claude', {}, true)).status).toBe(200);
  expect((await app.request('/api/v1/runs', {}, { local: true })).status).toBe(403);
});

test('who sends many large events, or sends them slowly, keeps no small one waiting [adv.E2] [adv.E3]', async () => {
  let [now, most] = [0, 0];
  const { post } = open({
    limit: 1_000_000,
    answer: async ({ body }) => {
      now += 1;
      most = Math.max(most, now);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return { size: body?.length ?? null };
    },
  });
  const large = 'x'.repeat(100_000);
  const headers = { 'content-length': String(large.length) };
  const answered = await Promise.all(
    Array.from({ length: 100 }, () => post('/api/v1/hooks/claude', { body: large, headers }, true)),
  );
  expect(answered.every(({ status }) => status === 200)).toBe(true);
  expect(most).toBeLessThanOrEqual(4);
  const senders: ReadableStreamDefaultController<Uint8Array>[] = [];
  const slow = Array.from({ length: 300 }, () => {
    const body = new ReadableStream<Uint8Array>({ start: (sender) => void senders.push(sender) });
    return post('/api/v1/hooks/claude', { body, headers, duplex: 'half' }, true);
  });
  expect((await post('/api/v1/hooks/claude', {}, true)).status).toBe(200);
  for (const sender of senders) sender.close();
  await Promise.all(slow);
});

test('a session that sends hundreds of events keeps another waiting for none of them, and is refused what is too much [adv.E2]', async () => {
  const answered: string[] = [];
  const { post } = open({
    answer: async ({ body }) => {
      await new Promise((resolve) => setImmediate(resolve));
      answered.push(String(body));
      return {};
    },
  });
  const send = (body: string) => post('/api/v1/hooks/claude', { body }, true);
  for (const session of ['bad', 'honest']) await send(session);

  const flood = Array.from({ length: 600 }, () => send('bad'));
  const made = Array.from({ length: 600 }, (_, at) => send(`made-${at}`));
  answered.length = 0;
  const honest = await send('honest');

  expect(honest.status).toBe(200);
  // Each of the others may have begun a few times while it came in, and not once for each event.
  expect(answered.indexOf('honest')).toBeGreaterThanOrEqual(0);
  expect(answered.indexOf('honest')).toBeLessThan(100);
  const statuses = (await Promise.all([...flood, ...made])).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(statuses.slice(0, 600).filter((status) => status === 200).length).toBeGreaterThanOrEqual(256);
});

test('events of a megabyte and more keep none waiting that are smaller [adv.E3]', async () => {
  const ends: (() => void)[] = [];
  const { post } = open({
    limit: 8_000_000,
    answer: async ({ body }) => {
      if ((body?.length ?? 0) > 1024 * 1024) await new Promise<void>((resolve) => ends.push(resolve));
      return {};
    },
  });
  const send = (size: number) =>
    post(
      '/api/v1/hooks/claude',
      { body: 'x'.repeat(size), headers: { 'content-length': String(size) } },
      true,
    );
  const huge = Array.from({ length: 8 }, () => send(1_100_000));
  await expect.poll(() => ends.length).toBe(1);

  expect((await send(200_000)).status).toBe(200);

  for (let ended = 0; ended < 8; ended += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(ended);
    ends[ended]?.();
  }
  expect((await Promise.all(huge)).every(({ status }) => status === 200)).toBe(true);
});

import { describe, expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';

const SESSION = '/api/v1/session';
const READ = { tool: 'read_files', input: {} };
const QUEUED = { workflow: 'errand', queue: true };

describe('a credential', () => {
  test("of an agent never opens a human's route, and trying is on record", async () => {
    const door = openDoor();
    const { authorization, key } = await door.holder('ada');

    for (const credential of [authorization, key]) {
      const response = await door.app.request(SESSION, { headers: { authorization: credential } });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: 'not_permitted' });
    }
    expect(await door.noted('credential_failed')).toMatchObject([
      { credential: 'token', principal: 'agent:ada', reason: 'wrong_kind', method: 'GET', path: SESSION },
      { credential: 'agent', principal: 'agent:ada', reason: 'wrong_kind' },
    ]);
  });

  test.each(['/api/v1/nowhere', '/api/v1/nowhere%0A/x', '/api/v1/nowhere%E2%80%A8', '/api/%0D'])(
    'is looked at where there is no route, whatever is in the path: %s',
    async (path) => {
      const door = openDoor();

      const response = await door.app.request(path, { headers: { authorization: 'Bearer pgk_guess' } });

      expect(response.status).toBe(401);
      expect(await door.noted('credential_failed')).toMatchObject([{ credential: 'agent_key' }]);
    },
  );

  test('that is missing is asked for, and its absence is on record', async () => {
    const door = openDoor();

    const response = await door.app.request(SESSION);

    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('Bearer');
    expect(await door.noted('credential_failed')).toMatchObject([{ credential: 'none', reason: 'missing' }]);
  });

  test.each([
    ['a key nobody has', 'Bearer pgk_made-up'],
    ['a session nobody has', 'Bearer pgs_made-up'],
    ['a token that is none', 'Bearer a.b.c'],
    ['another scheme', 'Basic b3BlcmF0b3I6eA=='],
    ['no scheme', 'pgk_made-up'],
    ['nothing', 'Bearer '],
    ['two in one header', 'Bearer pgk_a, Bearer pgk_b'],
    ['something else', 'Bearer abc'],
  ])('that is %s is refused with 401', async (_name, authorization) => {
    const door = openDoor();

    const response = await door.app.request(SESSION, { headers: { authorization } });

    expect(response.status).toBe(401);
    expect(JSON.stringify(await response.json())).not.toContain('made-up');
  });

  test('is refused where there are two', async () => {
    const door = openDoor();
    const { cookie } = await door.browser();
    const { authorization } = await door.agent('ada');

    const response = await door.app.request(SESSION, { headers: { cookie, authorization } });

    expect(response.status).toBe(401);
    expect(await door.noted('credential_failed')).toMatchObject([{ reason: 'two_credentials' }]);
  });

  test.each(['access_token', 'token', 'key', 'phase_token', 'Authorization', 'anything'])(
    'in the URL as `%s` is refused and never used, nor written down',
    async (name) => {
      const door = openDoor();
      const operator = await door.operator();
      const { authorization } = await door.holder('ada');
      const secret = authorization.replace('Bearer ', '');

      const alone = await door.app.request(`${SESSION}?${name}=${secret}`);
      const beside = await door.app.request(`${SESSION}?${name}=${secret}`, { headers: operator });

      expect([alone.status, beside.status]).toEqual([401, 401]);
      const noted = await door.noted('credential_failed');
      expect(noted).toMatchObject([{ reason: 'in_url' }, { reason: 'in_url' }]);
      expect(JSON.stringify(noted)).not.toContain(secret);
    },
  );

  test('that is a valid one of an agent is bound to that agent: no name in a body counts [adv.J2]', async () => {
    const door = openDoor();
    const headers = { ...(await door.agent('ada')), 'content-type': 'application/json' };
    await door.agent('bob');
    const claim = (agent_id: string) =>
      door.app.request('/api/v1/tasks/claim', {
        method: 'POST',
        headers,
        body: JSON.stringify({ agent_id }),
      });

    expect((await claim('ada')).status).toBe(204);
    const other = await claim('bob');
    expect(other.status).toBe(403);
    expect(await other.json()).toMatchObject({ error: 'not_permitted' });
    expect(await door.noted('credential_failed')).toMatchObject([
      { principal: 'agent:ada', reason: 'other_agent', named: 'bob' },
    ]);
  });
});

describe('a credential that is withdrawn while its request is on its way', () => {
  /** Asks with a body of which the end comes after something was done: a client may take a minute over it. */
  async function askSlowly(
    { app }: ReturnType<typeof openDoor>,
    { path, body, ...sent }: { path: string; body: object; authorization: string },
    meanwhile: () => Promise<unknown>,
  ): Promise<number> {
    const text = JSON.stringify(body);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const headers = { ...sent, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: readable, duplex: 'half' } as RequestInit;
    const answer = app.request(path, init);
    // Settles when it is read, so that the caller is known by then.
    await writer.write(new TextEncoder().encode(text.slice(0, 1)));
    await meanwhile();
    await Promise.all([writer.write(new TextEncoder().encode(text.slice(1))), writer.close()]);
    return (await answer).status;
  }

  test('opens nothing: neither an agent’s key, nor its token, nor a session [S2.93]', async () => {
    const door = openDoor();
    const ada = await door.agent('ada');
    const { authorization } = await door.holder('bob');
    const operator = await door.operator();
    const remove = (name: string) => door.project.agents.remove(name, 'spawn');
    const signOut = async () => door.app.request(SESSION, { method: 'DELETE', headers: operator });
    await door.project.as({ kind: 'human', name: 'operator' }).start({ workflow: 'errand', queue: true });

    const [claim, check] = ['/api/v1/tasks/claim', '/api/v1/tools/check'];
    const answers = [
      await askSlowly(door, { ...ada, path: claim, body: { agent_id: 'ada' } }, () => remove('ada')),
      await askSlowly(door, { authorization, path: check, body: READ }, () => remove('bob')),
      await askSlowly(door, { ...operator, path: '/api/v1/runs', body: QUEUED }, signOut),
    ];

    expect(answers).toEqual([401, 403, 401]);
    expect(await door.project.claims.leases()).toEqual([]);
  });
});

test('through the socket of an agent no human signs in, by a page no more than by the API', async () => {
  const door = openDoor();
  const ada = { peer: 'ada' };
  const { pathname, search } = new URL(await door.app.signInLink(null));
  const post = (path: string, type: string) =>
    door.app.request(path, { method: 'POST', headers: { 'content-type': type }, body: '{}' }, ada);

  const answers = [
    await post(SESSION, 'application/json'),
    await post('/sign-in', 'application/x-www-form-urlencoded'),
    await door.app.request(`${pathname}${search}`, {}, ada),
    await door.app.request('/', {}, ada),
  ];

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  expect(await door.noted('credential_failed')).toContainEqual(
    expect.objectContaining({ credential: 'socket', reason: 'human_at_socket' }),
  );
  // The link is not spent.
  expect((await door.app.request(`${pathname}${search}`)).status).toBe(303);
});

describe('failing credentials', () => {
  const guess = (door: ReturnType<typeof openDoor>) =>
    door.app.request(SESSION, { headers: { authorization: 'Bearer pgk_made-up' } });

  test('over the limit are answered with 429, and a valid one passes all the same', async () => {
    const door = openDoor();
    const operator = await door.operator();
    const { authorization } = await door.agent('ada');
    for (let count = 0; count < 20; count++) expect((await guess(door)).status).toBe(401);

    const over = await guess(door);
    const human = await door.app.request(SESSION, { headers: operator });
    const agent = await door.app.request('/api/v1/tasks/claim', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"agent_id":"ada"}',
    });

    expect(over.status).toBe(429);
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect([human.status, agent.status]).toEqual([200, 204]);
    door.pass(60_000);
    expect((await guess(door)).status).toBe(401);
  });
});

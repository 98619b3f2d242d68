import { describe, expect, test } from 'vitest';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

describe('POST /tasks/claim', () => {
  test('gives the task with the fields of its phase and a token, and 204 when nothing is queued [S2.13 S2.15 S2.20 S2.26]', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    await queue(bed);

    const { status, body } = await bed.post('/tasks/claim', key, { agent_id: 'a1' });
    const again = await bed.post('/tasks/claim', key, { agent_id: 'a1' });

    expect(status).toBe(200);
    expect(body.task).toMatchObject({
      workflow: 'tdd',
      title: 'Test-driven change',
      status: 'active',
      phase: 'PLAN',
      phase_number: 1,
      phase_name: 'Plan',
      tasks: [{ number: 1, name: 'Look' }],
      task_count: 1,
      checkpoint_criteria: { required_evidence: { plan: {}, scope: {} } },
      holder: 'a1',
    });
    expect(claimsIn(String(body.phase_token))).toMatchObject({ phase: 'PLAN', agent_id: 'a1' });
    expect(again).toMatchObject({ status: 204, text: '' });
  });

  test('of any number of unknown fields a few are named, so that no answer grows with what was sent [adv.O4]', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    const unknown = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`n${index}`, 1]));

    const { status, body, text } = await bed.post('/tasks/claim', key, { agent_id: 'a1', ...unknown });

    expect(status).toBe(422);
    expect(body).toMatchObject({
      error: 'request_invalid',
      message: '`n0` is not known here, and 29999 more',
    });
    expect(text.length).toBeLessThan(10_000);
  });

  test('takes the name in the body as a claim: another agent’s is 403, and nothing is handed out', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    await bed.agent('a2');
    await queue(bed);

    const { status, body } = await bed.post('/tasks/claim', key, { agent_id: 'a2' });

    expect(status).toBe(403);
    expect(body).toMatchObject({ error: 'not_permitted', status: 403 });
    expect(await bed.project.claims.leases()).toEqual([]);
  });

  test('with a task id claims that run and no other, and gives it to its holder again', async () => {
    const bed = openApiBed(FIVE);
    const [one, two] = [await bed.agent('a1'), await bed.agent('a2')];
    await queue(bed);
    const late = await queue(bed);

    const claimed = await bed.post('/tasks/claim', one, { agent_id: 'a1', task_id: late });
    const again = await bed.post('/tasks/claim', one, { agent_id: 'a1', task_id: late });
    const others = await bed.post('/tasks/claim', two, { agent_id: 'a2', task_id: late });

    expect(claimed.body.task).toMatchObject({
      id: late,
      next_step: { act: 'get_task', phase: 'PLAN', task: 1, text: expect.any(String) },
    });
    expect(again).toMatchObject({ status: 200, body: { task: { id: late, holder: 'a1' } } });
    expect(others).toMatchObject({ status: 403, body: { error: 'not_permitted' } });
  });

  test('names an agent by its key', async () => {
    const bed = openApiBed(FIVE);
    const [plain, able] = [await bed.agent('plain'), await bed.agent('able', ['go'])];

    expect((await bed.get('/agent', plain)).body).toEqual({ name: 'plain', capabilities: null });
    expect((await bed.get('/agent', able)).body).toEqual({ name: 'able', capabilities: ['go'] });
  });

  test('lets what an agent was given bound what it says of itself', async () => {
    const bed = openApiBed({ ...FIVE, capabilities: ['typescript'] });
    const [unable, able] = [
      await bed.agent('unable', ['python']),
      await bed.agent('able', ['typescript', 'go']),
    ];
    const free = await bed.agent('free');
    await queue(bed);
    await queue(bed);
    const says = (agent_id: string, capabilities: string[]) => ({ agent_id, capabilities });

    expect((await bed.post('/tasks/claim', unable, says('unable', ['typescript']))).status).toBe(204);
    expect((await bed.post('/tasks/claim', able, says('able', ['go']))).status).toBe(204);
    expect((await bed.post('/tasks/claim', able, { agent_id: 'able' })).status).toBe(200);
    expect((await bed.post('/tasks/claim', free, { agent_id: 'free' })).status).toBe(204);
    expect((await bed.post('/tasks/claim', free, says('free', ['typescript']))).status).toBe(200);
  });

  test.each([
    ['an agent id of 10 KB', { agent_id: 'x'.repeat(10_240) }, 'agent_id', 'must have at most 64 characters'],
    ['no agent id', {}, 'agent_id', 'is missing'],
    ['a number', { agent_id: 7 }, 'agent_id', 'must be text, got a number'],
    [
      'an unknown field',
      { agent_id: 'a1', agentid: 1 },
      'agentid',
      'is not known here (did you mean `agent_id`?)',
    ],
    [
      '65 capabilities',
      { agent_id: 'a1', capabilities: Array(65).fill('x') },
      'capabilities',
      'must have at most 64 entries',
    ],
    [
      'a capability that is none',
      { agent_id: 'a1', capabilities: ['a b'] },
      'capabilities.0',
      'must be letters, digits, `.`, `_` and `-`',
    ],
    ['a list', [], '', 'must be an object, got a list'],
  ])('refuses %s, with the field, and hands out nothing', async (_name, body, field, message) => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    await queue(bed);
    const before = await bed.records();

    const got = await bed.post('/tasks/claim', key, body);

    expect(got.status).toBe(422);
    expect(got.body).toMatchObject({ error: 'request_invalid', problems: [{ field, message }] });
    expect(got.headers.get('content-type')).toBe('application/problem+json');
    expect(await bed.records()).toBe(before);
  });

  test('lists everything that is wrong at once', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');

    const { body } = await bed.post('/tasks/claim', key, { agent_id: 7, capabilities: 'x', one: 1, two: 2 });

    expect((body.problems as { field: string }[]).map(({ field }) => field).sort()).toEqual([
      'agent_id',
      'capabilities',
      'one',
      'two',
    ]);
  });
});

describe('POST /tasks/token', () => {
  test('gives the holder a fresh token of the same epoch, and nobody else', async () => {
    const bed = openApiBed(FIVE);
    const [key, other] = [await bed.agent('a1'), await bed.agent('a2')];
    const { run, token } = await bed.claimed(key, 'a1');

    const fresh = await bed.post('/tasks/token', key, { task_id: run });
    const stolen = await bed.post('/tasks/token', other, { task_id: run });
    const nowhere = await bed.post('/tasks/token', key, { task_id: 'none' });

    expect(fresh.status).toBe(200);
    expect(fresh.body.phase_token).not.toBe(token);
    expect(claimsIn(String(fresh.body.phase_token)).epoch).toBe(claimsIn(token).epoch);
    expect(stolen).toMatchObject({ status: 403, body: { error: 'not_permitted' } });
    expect(nowhere).toMatchObject({ status: 404, body: { error: 'run_unknown' } });
    expect((await bed.get(`/runs/${run}/phase`, String(fresh.body.phase_token))).status).toBe(200);
  });
});

describe('POST /tasks/release', () => {
  test('puts the run back for another, and the token is dead', async () => {
    const bed = openApiBed(FIVE);
    const [key, other] = [await bed.agent('a1'), await bed.agent('a2')];
    const { run, token } = await bed.claimed(key, 'a1');

    const stolen = await bed.post('/tasks/release', other, { task_id: run });
    const released = await bed.post('/tasks/release', key, { task_id: run });

    expect(stolen).toMatchObject({ status: 403, body: { error: 'not_permitted' } });
    expect(released).toMatchObject({ status: 200, body: { task_id: run, released: true } });
    expect(await bed.get(`/runs/${run}/phase`, token)).toMatchObject({
      status: 403,
      body: { error: 'token_dead' },
    });
    expect((await bed.post('/tasks/claim', other, { agent_id: 'a2' })).body.task).toMatchObject({ id: run });
  });
});

async function queue(bed: ApiBed): Promise<string> {
  const human = bed.project.as({ kind: 'human', name: 'operator' });
  return (await human.start({ workflow: 'any', queue: true })).view?.run ?? '';
}

function claimsIn(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

import { type Json, type JsonObject, own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { BROKEN, FIVE, PARALLEL, PERMISSIVE, PLAN } from './fixtures/workflows.ts';

describe('POST /tasks/transition', () => {
  test('refuses a phase that is named and not the current one as a skipped one, on record', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const skipping = await bed.post('/tasks/transition', token, { phase: 'IMPL', artifacts: {} });

    expect(skipping).toMatchObject({
      status: 409,
      body: {
        allowed: false,
        error: 'phase_sequence_violation',
        blockers: [{ code: 'phase_sequence_violation', next_step: { act: 'get_task', phase: 'PLAN' } }],
      },
    });
    expect(JSON.stringify(skipping.body)).not.toContain('Make it pass');
    expect((await bed.store.history(run, { after: 0, limit: 100 })).at(-1)).toMatchObject({
      event: 'phase_refused',
    });
  });

  test('walks the five phases with a new token for each, waits at the gate, and ends without one [S2.16 S2.28 S2.30 S2.57]', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    const maria = await bed.human('maria');
    await bed.trust('maria');
    let { run, token } = await bed.claimed(key, 'a1');
    await bed.get(`/runs/${run}/tasks/PLAN/1`, token);
    const steps: readonly (readonly [string, object])[] = [
      ['TDD', PLAN],
      ['IMPL', { test_run_result: { failed: 1 } }],
      ['REVIEW', {}],
    ];

    for (const [target, artifacts] of steps) {
      const { status, body } = await bed.post('/tasks/transition', token, {
        target,
        artifacts: { ...artifacts },
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        allowed: true,
        status: 'active',
        phase: target,
        task: { id: run, phase: target },
      });
      expect(claimsIn(String(body.phase_token)).phase).toBe(target);
      expect((await bed.get(`/runs/${run}/phase`, token)).status).toBe(403);
      token = String(body.phase_token);
    }
    const waits = await bed.post('/tasks/transition', token, { artifacts: { review: { summary: 'good' } } });
    expect(waits.status).toBe(202);
    expect(waits.body).toMatchObject({
      allowed: true,
      status: 'waiting',
      phase: 'REVIEW',
      gate: { prompt: 'Ship it?', options: [{ label: 'Approve' }, { label: 'Reject' }] },
    });
    expect(waits.body.phase_token).toBeUndefined();
    expect(waits.text).not.toContain('good');
    expect((await bed.get(`/runs/${run}`, token)).body).toMatchObject({ status: 'waiting' });

    const { body: card } = await bed.get(`/runs/${run}/gate`, maria);
    await bed.post(`/runs/${run}/decisions`, maria, {
      gate: card.gate ?? '',
      option: 'Approve',
      shown: card.shown ?? '',
    });
    const fresh = await bed.post('/tasks/token', key, { task_id: run });
    token = String(fresh.body.phase_token);
    const end = await bed.post('/tasks/transition', token, { target: null, artifacts: {} });

    expect(end.status).toBe(200);
    expect(end.body).toMatchObject({
      allowed: true,
      status: 'completed',
      phase: null,
      message: 'All phases complete',
    });
    expect(end.body).not.toHaveProperty('phase_token');
    expect((await bed.get('/audit/verify', maria)).body).toMatchObject({ ok: true, findings: [] });
  });

  test('lists everything that artifacts lack, changes nothing, and the token stays good [S2.21 S2.31 S2.45 S2.46 S2.96]', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await claimedAndRead(bed);

    const { status, body } = await bed.post('/tasks/transition', token, {
      artifacts: { plan: { steps: [], more: 1 } },
    });

    expect(status).toBe(409);
    expect(body).toMatchObject({
      allowed: false,
      error: 'incomplete_checkpoint',
      status: 409,
      run_status: 'active',
    });
    const messages = (body.blockers as { code: string; message: string }[]).map(({ message }) => message);
    expect(messages.join('\n')).toMatch(/risk/);
    expect(messages.join('\n')).toMatch(/more/);
    expect(messages.join('\n')).toMatch(/steps/);
    expect(messages).toContainEqual(expect.stringContaining('scope'));
    expect(messages.length).toBeGreaterThanOrEqual(4);
    expect(body.next_action).toBe('POST /api/v1/tasks/transition with {"artifacts": {plan, scope}}');
    expect((await bed.get(`/runs/${run}`, token)).body).toMatchObject({
      phase: 'PLAN',
      completed_phases: [],
    });
  });

  test('asks for a good token, then artifacts, then a gate’s blockers, in their own words [S2.29 S2.48 S2.49]', async () => {
    const bed = openApiBed(FIVE);
    const { token } = await claimedAndRead(bed);
    const { body: next } = await bed.post('/tasks/transition', token, { artifacts: PLAN });

    const good = String(next.phase_token);
    expect((await bed.post('/tasks/transition', `${good}x`, { artifacts: {} })).status).toBe(401);
    expect(await bed.post('/tasks/transition', good, { artifacts: {} })).toMatchObject({
      status: 409,
      body: { error: 'incomplete_checkpoint' },
    });
    const { status, body } = await bed.post('/tasks/transition', good, {
      artifacts: { test_run_result: { failed: 0 } },
    });

    expect(status).toBe(409);
    expect(body).toMatchObject({
      allowed: false,
      error: 'check_failed',
      attempt: 1,
      blockers: [{ code: 'check_failed', message: expect.stringContaining('Tests must fail first') }],
    });
  });

  test.each([
    ['a later phase', 'REVIEW'],
    ['the end', null],
    ['a phase that is not there', 'NOWHERE'],
    ['a number', 42],
  ])('refuses %s as target, and nothing happens [S2.12]', async (_name, target) => {
    const bed = openApiBed(FIVE);
    const { run, token } = await claimedAndRead(bed);

    const { status, body } = await bed.post('/tasks/transition', token, { target, artifacts: PLAN });

    expect(status).toBe(409);
    expect(body).toMatchObject({ allowed: false, error: 'not_the_next_phase' });
    expect((await bed.get(`/runs/${run}`, token)).body).toMatchObject({
      phase: 'PLAN',
      completed_phases: [],
    });
  });

  test('names the task that was never read as the next call', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { body } = await bed.post('/tasks/transition', token, { artifacts: PLAN });

    expect(body).toMatchObject({
      error: 'tasks_not_fetched',
      blockers: [{ code: 'tasks_not_fetched', next_action: `GET /api/v1/runs/${run}/tasks/PLAN/1` }],
      next_action: `GET /api/v1/runs/${run}/tasks/PLAN/1`,
    });
  });

  test('refuses where a check throws, and says that it did [C19]', async () => {
    const bed = openApiBed(BROKEN);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { status, body } = await bed.post('/tasks/transition', token, { artifacts: {} });

    expect(status).toBe(409);
    expect(body).toMatchObject({ allowed: false, error: 'check_errored' });
    expect((await bed.get(`/runs/${run}`, token)).body).toMatchObject({ phase: 'ONE', completed_phases: [] });
  });

  test('lets pass what permissive mode would refuse, and says what that is [C9 S2.91]', async () => {
    const bed = openApiBed(PERMISSIVE);
    const { token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { status, body } = await bed.post('/tasks/transition', token, { artifacts: {} });

    expect(status).toBe(200);
    expect(body).toMatchObject({
      allowed: true,
      phase: 'LAST',
      would_refuse: [
        { code: 'incomplete_checkpoint', next_action: expect.stringContaining('POST /api/v1/') },
      ],
    });
  });

  test('takes the same transition once: the token is dead when it comes again', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await claimedAndRead(bed);

    const both = await Promise.all(
      [1, 2].map(() => bed.post('/tasks/transition', token, { artifacts: PLAN })),
    );
    const late = await bed.post('/tasks/transition', token, { artifacts: PLAN });

    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(late).toMatchObject({ status: 403, body: { error: 'token_dead' } });
    expect(await eventsOf(bed, run)).toEqual(expect.arrayContaining(['phase_completed']));
    expect((await eventsOf(bed, run)).filter((event) => event === 'phase_completed')).toHaveLength(1);
  });

  test.each([
    ['no artifacts', {}, 'artifacts', 'is missing'],
    ['artifacts in a list', { artifacts: [] }, 'artifacts', 'must be a JSON object'],
    [
      'an outcome nobody may report',
      { artifacts: {}, outcome: 'skip' },
      'outcome',
      'must be one of `ok`, `fail`, `iterate`',
    ],
    ['a word to force it', { artifacts: {}, force: true }, 'force', 'is not known here'],
    [
      'a target of 1 KB',
      { artifacts: {}, target: 'x'.repeat(1024) },
      'target',
      'must have at most 256 characters',
    ],
    [
      'a target with a fraction',
      { artifacts: {}, target: 1.5 },
      'target',
      'must be a phase: text of at most 256 characters, or a whole number',
    ],
    [
      'a number beyond what is safe',
      { artifacts: {}, target: 2 ** 60 },
      'target',
      'must be at most 9007199254740991',
    ],
  ])('refuses %s, with the field, and nothing changed', async (_name, body, field, message) => {
    const bed = openApiBed(FIVE);
    const { token } = await claimedAndRead(bed);
    const before = await bed.records();

    const got = await bed.post('/tasks/transition', token, body);

    expect(got.status).toBe(422);
    expect(got.body).toMatchObject({ error: 'request_invalid', problems: [{ field, message }] });
    expect(await bed.records()).toBe(before);
  });

  test.each([
    ['a number too large for JSON’s readers', '{"artifacts":{"n":1e400}}', 'artifacts.n'],
    ['three hundred levels', `{"artifacts":{"a":${'['.repeat(300)}${']'.repeat(300)}}}`, ''],
    ['no JSON', '{"artifacts":', ''],
    ['a key that is none', '{"artifacts":{"__proto__":{"x":1}}}', 'artifacts.__proto__'],
  ])('refuses %s, and nothing changed', async (_name, raw, field) => {
    const bed = openApiBed(FIVE);
    const { token } = await claimedAndRead(bed);
    const before = await bed.records();

    const got = await bed.call('POST', '/tasks/transition', { as: token, raw });

    expect(got.status).toBe(422);
    expect(got.body).toMatchObject({ error: 'request_invalid', problems: [{ field }] });
    expect(await bed.records()).toBe(before);
  });

  test('hands out the items of a parallel phase one by one, and an item’s token ends that item only', async () => {
    const bed = openApiBed(PARALLEL);
    const [one, two] = [await bed.agent('a1'), await bed.agent('a2')];
    const { run, token } = await bed.claimed(one, 'a1');
    const { body: entered } = await bed.post('/tasks/transition', token, {
      artifacts: { files: ['x', 'y'] },
    });
    expect(entered).toMatchObject({ phase: 'EACH', task: { item: { key: expect.any(String) } } });
    const { body: second } = await bed.post('/tasks/claim', two, { agent_id: 'a2' });
    expect(second.task).toMatchObject({ id: run, phase: 'EACH', item: { key: expect.any(String) } });
    expect(own(own(second.task, 'item'), 'key')).not.toBe(own(own(entered.task, 'item'), 'key'));
    const reading = await bed.get(`/runs/${run}/phase`, String(second.phase_token));
    expect(reading).toMatchObject({ status: 200, body: { phase: 'EACH' } });
    expect((await bed.get('/state/snapshot', String(second.phase_token))).status).toBe(200);

    const first = await bed.post('/tasks/transition', String(second.phase_token), {
      artifacts: { done: true },
    });
    expect(first).toMatchObject({ status: 200, body: { status: 'active', phase: 'EACH', task: null } });
    expect(first.body).not.toHaveProperty('phase_token');

    const last = await bed.post('/tasks/transition', String(entered.phase_token), {
      artifacts: { done: true },
    });
    expect(last).toMatchObject({ status: 200, body: { phase: 'END', phase_token: expect.any(String) } });
  });

  test('with the run’s own token names the item that is free, or other work where there is none', async () => {
    const bed = openApiBed(PARALLEL);
    const [one, two] = [await bed.agent('a1'), await bed.agent('a2')];
    const { run, token } = await bed.claimed(one, 'a1');
    const complete = (as: Json | undefined, body: JsonObject) =>
      bed.post('/tasks/transition', String(as), body);
    const done = { artifacts: { done: true } };
    const entered = await complete(token, { artifacts: { files: ['x', 'y', 'z'] } });
    expect((await complete(entered.body.phase_token, done)).body).toMatchObject({ item_completed: 'x' });
    const { phase_token: whole } = (await bed.post('/tasks/token', one, { task_id: run })).body;

    const free = await complete(whole, done);
    expect(free).toMatchObject({ status: 409, body: { error: 'item_required' } });
    expect(free.body.next_action).toBe(
      'POST /api/v1/tasks/transition with {"artifacts": {done}, "item": "y"}',
    );
    expect((await complete(whole, { ...done, item: 'y' })).body).toMatchObject({ item_completed: 'y' });

    const { body: last } = await bed.post('/tasks/claim', two, { agent_id: 'a2' });
    for (let round = 0; round < 6; round += 1) {
      const held = await complete(whole, done);
      expect(held).toMatchObject({ status: 409, body: { error: 'item_held', run_status: 'active' } });
      expect(held.body.next_action).toBe('POST /api/v1/tasks/claim with {"agent_id": your name}');
    }
    expect(await complete(last.phase_token, done)).toMatchObject({ status: 200, body: { phase: 'END' } });
  });
});

async function claimedAndRead(bed: ApiBed): Promise<{ readonly run: string; readonly token: string }> {
  const claimed = await bed.claimed(await bed.agent('a1'), 'a1');
  await bed.get(`/runs/${claimed.run}/tasks/PLAN/1`, claimed.token);
  return claimed;
}

async function eventsOf({ project }: ApiBed, run: string): Promise<readonly string[]> {
  const records = await project.as({ kind: 'human', name: 'operator' }).history(run);
  return records.map(({ event }) => event);
}

function claimsIn(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

test('work for an earlier visit does nothing, though the token is fresh [adv.O7]', async () => {
  const bed = openApiBed(FIVE);
  const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
  const { epoch } = claimsIn(token);
  const at = { epoch: Number(epoch) };
  const questions = [{ text: 'Which?', options: ['a', 'b'] }];
  const calls: readonly (readonly [string, JsonObject])[] = [
    ['/tasks/transition', { artifacts: { ...PLAN } }],
    [`/runs/${run}/questions`, { questions }],
    [`/runs/${run}/blocked`, { reason: 'late' }],
  ];
  const wrong = [{ epoch: at.epoch - 1 }, { epoch: at.epoch + 1 }, { ...at, visit: 2 }];

  for (const [path, body] of calls) {
    for (const said of wrong) {
      expect(await bed.post(path, token, { ...body, at: said }), path).toMatchObject({
        status: 409,
        body: { error: 'run_changed' },
      });
    }
    for (const said of [{}, { epoch: 'x' }, { epoch: 1.5 }, { ...at, more: 1 }, null]) {
      expect((await bed.post(path, token, { ...body, at: said })).status, path).toBe(422);
    }
  }
  expect((await bed.get(`/runs/${run}`, token)).body).toMatchObject({ status: 'active', phase: 'PLAN' });
  for (const [path, body] of calls.slice(2)) {
    expect((await bed.post(path, token, { ...body, at: { ...at, visit: 1 } })).status, path).toBe(200);
  }
});

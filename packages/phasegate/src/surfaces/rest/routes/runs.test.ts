import { type Json, own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE, PLAN } from './fixtures/workflows.ts';

describe('POST /runs', () => {
  test('always makes a new run, queued for an agent, and says where it is', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    const first = await bed.post('/runs', human, {
      workflow: 'tdd',
      target: 'src/a.ts',
      params: { mode: 'quick' },
    });
    const second = await bed.post('/runs', human, {
      workflow: 'tdd',
      target: 'src/a.ts',
      params: { mode: 'quick' },
    });

    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({ workflow: 'tdd', status: 'queued', phase: 'PLAN', ring: 'served' });
    expect(first.headers.get('location')).toBe(`/api/v1/runs/${String(first.body.run)}`);
    expect(second.body.run).not.toBe(first.body.run);
    expect((await bed.get(`/runs/${String(first.body.run)}`, human)).body).toMatchObject({
      target: 'src/a.ts',
      params: { mode: 'quick' },
    });
  });

  test('takes `params` and `options` as one bag, and refuses a key with two values', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    const same = await bed.post('/runs', human, {
      workflow: 'tdd',
      params: { mode: 'full' },
      options: { mode: 'full' },
    });
    const before = await bed.records();
    const torn = await bed.post('/runs', human, {
      workflow: 'tdd',
      params: { mode: 'full' },
      options: { mode: 'quick' },
    });

    expect(same.status).toBe(201);
    expect(torn.status).toBe(422);
    expect(torn.body).toMatchObject({ error: 'request_invalid', problems: [{ field: 'options.mode' }] });
    expect(await bed.records()).toBe(before);
  });

  test('refuses a param the workflow does not know with 409, and makes no run', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    const { status, body } = await bed.post('/runs', human, {
      workflow: 'tdd',
      params: { mode: 'odd', who: 1 },
    });

    expect(status).toBe(409);
    expect(body).toMatchObject({
      error: 'param_invalid',
      blockers: [{ code: 'param_invalid' }, { code: 'param_invalid' }],
    });
    expect((await bed.get('/runs', human)).body).toEqual({ runs: [], next_offset: null });
  });

  test.each([
    ['no workflow', {}, 'workflow'],
    ['a priority with a fraction', { workflow: 'tdd', priority: 0.5 }, 'priority'],
    ['a priority beyond the limit', { workflow: 'tdd', priority: 1e9 }, 'priority'],
    ['a queue that is text', { workflow: 'tdd', queue: 'yes' }, 'queue'],
    ['params in a list', { workflow: 'tdd', params: [] }, 'params'],
    ['a holder', { workflow: 'tdd', holder: 'a1' }, 'holder'],
  ])('refuses %s, with the field', async (_name, body, field) => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    const got = await bed.post('/runs', human, body);

    expect(got.status).toBe(422);
    expect(got.body).toMatchObject({ error: 'request_invalid', problems: [{ field }] });
    expect((await bed.get('/runs', human)).body.runs).toEqual([]);
  });

  test('hands out the higher priority first', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();
    const key = await bed.agent('a1');
    await bed.post('/runs', human, { workflow: 'tdd', priority: 1 });
    const urgent = await bed.post('/runs', human, { workflow: 'tdd', priority: 5 });

    const { body } = await bed.post('/tasks/claim', key, { agent_id: 'a1' });

    expect(own(body.task, 'id')).toBe(urgent.body.run);
  });
});

describe('GET /runs', () => {
  test('pages through them, newest first, by status and workflow', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();
    for (let count = 0; count < 5; count++) {
      bed.pass(1);
      await bed.post('/runs', human, { workflow: 'tdd', target: `t${count}` });
    }

    const first = await bed.get('/runs?limit=2', human);
    const second = await bed.get(`/runs?limit=2&offset=${String(first.body.next_offset)}`, human);
    const last = await bed.get('/runs?limit=2&offset=4', human);

    const targets = [first, second, last].flatMap(({ body }) =>
      (body.runs as Json[]).map((run) => own(run, 'target')),
    );
    expect(targets).toEqual(['t4', 't3', 't2', 't1', 't0']);
    expect(last.body.next_offset).toBeNull();
    expect((await bed.get('/runs?status=completed', human)).body.runs).toEqual([]);
    expect((await bed.get('/runs?workflow=other', human)).body.runs).toEqual([]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1e2', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=99999999999999999999', 'offset'],
    ['status=done', 'status'],
    ['sort=up', 'sort'],
  ])('refuses %s, with the field', async (query, field) => {
    const bed = openApiBed(FIVE);

    const { status, body } = await bed.get(`/runs?${query}`, await bed.human());

    expect(status).toBe(422);
    expect(body).toMatchObject({ error: 'request_invalid', problems: [{ field }] });
  });

  test('is a human’s', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    const { token } = await bed.claimed(key, 'a1');

    expect((await bed.get('/runs', key)).status).toBe(403);
    expect((await bed.get('/runs', token)).status).toBe(403);
    expect((await bed.get('/runs')).status).toBe(401);
  });
});

describe('GET /runs/:id', () => {
  test('shows an agent its own run by key or token, and nothing of later phases', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    const { run, token } = await bed.claimed(key, 'a1');

    const byToken = await bed.get(`/runs/${run}`, token);
    const byKey = await bed.get(`/runs/${run}`, key);

    expect(byToken.body).toEqual(byKey.body);
    expect(byToken.body).toMatchObject({
      run,
      workflow: 'tdd',
      status: 'active',
      phase: 'PLAN',
      current_phase: 'PLAN',
      progress: { completed: 0, total: 5 },
      gate: null,
      next_action: `GET /api/v1/runs/${run}/tasks/PLAN/1`,
    });
    expect(byToken.text).not.toContain('SECRET OF IMPL');
  });

  test('is closed to another agent, to the token of another run, and where there is none', async () => {
    const bed = openApiBed(FIVE);
    const [one, two] = [await bed.agent('a1'), await bed.agent('a2')];
    const mine = await bed.claimed(one, 'a1');
    const theirs = await bed.claimed(two, 'a2');

    expect(await bed.get(`/runs/${mine.run}`, two)).toMatchObject({
      status: 403,
      body: { error: 'not_permitted' },
    });
    expect(await bed.get(`/runs/${mine.run}`, theirs.token)).toMatchObject({
      status: 403,
      body: { error: 'token_dead' },
    });
    expect(await bed.get('/runs/none', await bed.human())).toMatchObject({
      status: 404,
      body: { error: 'run_unknown' },
    });
    const failures = (await bed.project.feed.after(0, 1000)).filter(
      ({ event }) => event === 'credential_failed',
    );
    expect(failures.at(-1)?.data).toMatchObject({
      credential: 'token',
      principal: 'agent:a2',
      reason: 'other_run',
    });
  });
});

describe('GET /runs/:id/events', () => {
  test('pages through the audit of the run', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
    await bed.get(`/runs/${run}/tasks/PLAN/1`, token);

    const first = await bed.get(`/runs/${run}/events?limit=1`, human);
    const rest = await bed.get(`/runs/${run}/events?after=${String(first.body.next_after)}`, human);

    expect(first.body.events).toMatchObject([
      { seq: 1, run, event: 'run_started', hash: expect.any(String) },
    ]);
    const seen = (rest.body.events as Json[]).map((event) => own(event, 'event'));
    expect(seen).toEqual(expect.arrayContaining(['run_claimed', 'task_fetched']));
    expect(rest.body.next_after).toBeNull();
  });
});

describe('GET /runs/:id/phase', () => {
  test('is the current phase, or a completed one by id, number or name', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
    await bed.get(`/runs/${run}/tasks/PLAN/1`, token);
    const { body } = await bed.post('/tasks/transition', token, { artifacts: PLAN });
    const next = String(body.phase_token);

    expect((await bed.get(`/runs/${run}/phase`, next)).body).toMatchObject({
      phase: 'TDD',
      phase_content: expect.stringContaining('Write a failing test.'),
      artifacts_from_previous: { PLAN: { plan: PLAN.plan } },
      next_action: 'POST /api/v1/tasks/transition with {"artifacts": {test_run_result}}',
    });
    for (const asked of ['PLAN', '1', 'Plan']) {
      expect((await bed.get(`/runs/${run}/phase?phase=${asked}`, next)).body).toMatchObject({
        phase: 'PLAN',
      });
    }
  });

  test.each(['IMPL', '3', 'NOWHERE'])(
    'refuses %s with the one refusal of a skipped phase, and nothing of it [C1]',
    async (asked) => {
      const bed = openApiBed(FIVE);
      const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

      const { status, body, text } = await bed.get(`/runs/${run}/phase?phase=${asked}`, token);

      expect(status).toBe(409);
      expect(body).toMatchObject({
        error: 'phase_sequence_violation',
        message: `Cannot access Phase ${asked}`,
        violation_type: 'attempted_skip',
        current_phase: 'PLAN',
        current_phase_content: expect.stringContaining('write the plan'),
        artifacts_available: {},
        progress: { completed: 0 },
        status: 409,
      });
      expect(text).not.toContain('SECRET OF IMPL');
    },
  );

  test('needs the token of that run', async () => {
    const bed = openApiBed(FIVE);
    const [one, two] = [await bed.agent('a1'), await bed.agent('a2')];
    const { run } = await bed.claimed(one, 'a1');
    const { token: other } = await bed.claimed(two, 'a2');

    for (const [method, path, body] of [
      ['GET', `/runs/${run}/phase`, undefined],
      ['GET', `/runs/${run}/tasks/PLAN/1`, undefined],
      ['POST', `/runs/${run}/questions`, { questions: [{ text: 'q', options: ['a', 'b'] }] }],
      ['POST', `/runs/${run}/blocked`, { reason: 'r' }],
    ] as const) {
      const asking = { as: other, ...(body === undefined ? {} : { body: body as Json }) };
      expect(await bed.call(method, path, asking)).toMatchObject({
        status: 403,
        body: { error: 'token_dead' },
      });
      expect((await bed.call(method, path, { ...asking, as: one })).status).toBe(403);
    }
  });
});

describe('GET /runs/:id/tasks/:phase/:n', () => {
  test('gives the task and records that it was read', async () => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const { status, body } = await bed.get(`/runs/${run}/tasks/PLAN/1`, token);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      run,
      phase: 'PLAN',
      task_number: 1,
      task_content: expect.stringContaining('Read the code'),
      source: 'static',
      next_action: 'POST /api/v1/tasks/transition with {"artifacts": {plan, scope}}',
    });
  });

  test.each([
    ['PLAN/2', 409, 'task_unknown'],
    ['IMPL/1', 409, 'phase_sequence_violation'],
    ['PLAN/0', 422, 'request_invalid'],
    ['PLAN/1.5', 422, 'request_invalid'],
    ['PLAN/9999999', 422, 'request_invalid'],
  ])('refuses %s with %i %s', async (path, status, error) => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    expect(await bed.get(`/runs/${run}/tasks/${path}`, token)).toMatchObject({ status, body: { error } });
  });
});

describe('an agent that cannot go on', () => {
  test('asks a human, and the run waits until all is answered', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
    const questions = [
      { text: 'Which?', options: ['North', 'South'] },
      { text: 'How?', options: ['Walk', 'Ride'] },
    ];

    const asked = await bed.post(`/runs/${run}/questions`, token, { questions });
    const unknown = await bed.post(`/runs/${run}/answers`, human, { question: 1, option: 'Up' });
    const half = await bed.post(`/runs/${run}/answers`, human, { question: 1, option: 'South' });
    const whole = await bed.post(`/runs/${run}/answers`, human, { question: 2, text: 'by boat' });

    expect(asked.body).toMatchObject({ status: 'waiting', questions });
    expect(asked.body.next_action).toContain('POST /api/v1/tasks/token');
    expect(unknown).toMatchObject({
      status: 409,
      body: { error: 'option_unknown', blockers: [{ code: 'option_unknown' }] },
    });
    expect(half.body).toMatchObject({ status: 'waiting' });
    expect(whole.body).toMatchObject({ status: 'active' });
    expect((await bed.get(`/runs/${run}`, human)).body.answers).toMatchObject([
      { question: 1, text: 'South', elicited: false },
      { question: 2, text: 'by boat' },
    ]);
  });

  test('says so, and only a human lets the run go on [C18 adv.I12]', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();
    const key = await bed.agent('a1');
    const { run, token } = await bed.claimed(key, 'a1');

    const blocked = await bed.post(`/runs/${run}/blocked`, token, { reason: 'the fixture is gone' });
    const refused = await bed.post('/tasks/transition', token, { artifacts: PLAN });
    const alone = [
      await bed.post(`/runs/${run}/resume`, token, {}),
      await bed.post(`/runs/${run}/resume`, key, {}),
    ];
    const resumed = await bed.post(`/runs/${run}/resume`, human, { note: 'it is back' });

    expect(blocked.body).toMatchObject({
      status: 'escalated',
      escalation: { reason: 'blocked', message: 'the fixture is gone' },
    });
    expect(refused).toMatchObject({
      status: 409,
      body: { allowed: false, error: 'escalated', blockers: [{ code: 'run_escalated' }] },
    });
    expect(alone.map(({ status }) => status)).toEqual([403, 403]);
    expect(resumed.body).toMatchObject({ status: 'active' });
    const fresh = await bed.post('/tasks/token', key, { task_id: run });
    expect(JSON.stringify(fresh.body.task)).toContain('it is back');
  });

  test.each([
    ['questions', { questions: [] }, 'questions'],
    ['questions', { questions: Array(4).fill({ text: 'q', options: ['a', 'b'] }) }, 'questions'],
    ['questions', { questions: [{ text: '', options: ['a', 'b'] }] }, 'questions.0.text'],
    ['questions', { questions: [{ text: 'q', options: ['a'] }] }, 'questions.0.options'],
    ['blocked', {}, 'reason'],
    ['blocked', { reason: 'x'.repeat(20_000) }, 'reason'],
  ])('is told what is wrong with its %s', async (verb, body, field) => {
    const bed = openApiBed(FIVE);
    const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');

    const got = await bed.post(`/runs/${run}/${verb}`, token, body as Json);

    expect(got.status).toBe(422);
    expect(got.body).toMatchObject({ problems: [{ field }] });
    expect((await bed.get(`/runs/${run}`, token)).body).toMatchObject({ status: 'active' });
  });
});

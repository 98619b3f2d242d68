import { defineWorkflow, type Json, own, PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

describe('GET /audit', () => {
  test('pages through all chains, or through one [S2.83]', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();
    const { run } = await bed.claimed(await bed.agent('a1'), 'a1');

    const records: Json[] = [];
    for (let after: Json = 0; after !== null; ) {
      const { body } = await bed.get(`/audit?after=${String(after)}&limit=2`, human);
      records.push(...(body.records as Json[]));
      after = body.next_after ?? null;
    }
    const one = await bed.get(`/audit?run=${run}`, human);
    const project = await bed.get('/audit?chain=project', human);

    const ids = records.map((record) => Number(own(record, 'id')));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(records.map((record) => own(record, 'event'))).toEqual(
      expect.arrayContaining(['agent_added', 'run_started', 'run_claimed', 'token_issued']),
    );
    expect((one.body.records as Json[]).every((record) => own(record, 'run') === run)).toBe(true);
    expect(one.body.records).toMatchObject([
      { seq: 1, principal: expect.any(String), time: expect.any(String) },
      {},
      {},
    ]);
    expect((project.body.records as Json[]).map((record) => own(record, 'run'))).toContain(null);
    expect((project.body.records as Json[]).every((record) => own(record, 'run') === null)).toBe(true);
    expect((await bed.get(`/audit?chain=project&run=${run}`, human)).status).toBe(422);
    expect((await bed.get('/audit?run=none', human)).status).toBe(404);
    expect((await bed.get('/audit?limit=5000', human)).body).toMatchObject({
      problems: [{ field: 'limit' }],
    });
  });

  test('is checked as a whole, and is a human’s', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    const { token } = await bed.claimed(key, 'a1');

    expect((await bed.get('/audit/verify', await bed.human())).body).toMatchObject({
      ok: true,
      findings: [],
    });
    for (const path of ['/audit', '/audit/verify']) {
      expect((await bed.get(path, key)).status).toBe(403);
      expect((await bed.get(path, token)).status).toBe(403);
    }
  });
});

describe('/agents', () => {
  test('makes a key that is shown once and opens what it should, and withdraws it', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    const made = await bed.post('/agents', human, { name: 'a1', capabilities: ['go'] });
    const key = String(made.body.key);
    const { run } = await bed.claimed(key, 'a1');
    const listed = await bed.get('/agents', human);
    const removed = await bed.call('DELETE', '/agents/a1', { as: human });

    expect(made).toMatchObject({ status: 201, body: { name: 'a1' } });
    expect(listed.body.agents).toMatchObject([
      { name: 'a1', capabilities: ['go'], leases: [{ run, agent: 'a1' }] },
    ]);
    expect(listed.text).not.toContain(key);
    expect(removed).toMatchObject({ status: 204, text: '' });
    expect((await bed.post('/tasks/claim', key, { agent_id: 'a1' })).status).toBe(401);
    expect((await bed.get(`/runs/${run}`, human)).body).toMatchObject({ status: 'queued', holder: null });
  });

  test.each([
    [{}, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: 'a b' }, 'name'],
    [{ name: '../x' }, 'name'],
    [{ name: 'a1', key: 'pgk_mine' }, 'key'],
    [{ name: 'a1', capabilities: [1] }, 'capabilities.0'],
  ])('refuses %j, with the field', async (body, field) => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    expect(await bed.post('/agents', human, body)).toMatchObject({
      status: 422,
      body: { problems: [{ field }] },
    });
    expect((await bed.get('/agents', human)).body.agents).toEqual([]);
  });

  test('is a human’s: no agent makes another, or withdraws one', async () => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');

    expect((await bed.get('/agents', key)).status).toBe(403);
    expect((await bed.post('/agents', key, { name: 'a2' })).status).toBe(403);
    expect((await bed.call('DELETE', '/agents/a1', { as: key })).status).toBe(403);
    expect(await bed.project.agents.list()).toHaveLength(1);
    expect(await bed.call('DELETE', '/agents/none', { as: await bed.human() })).toMatchObject({
      status: 404,
      body: { error: 'agent_unknown' },
    });
  });
});

describe('/webhooks', () => {
  test('are added with a secret shown once, listed without, and removed', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    const made = await bed.post('/webhooks', human, {
      url: 'https://example.com/x',
      events: ['gate_opened'],
    });
    const listed = await bed.get('/webhooks', human);
    const id = String(made.body.id);

    expect(made).toMatchObject({
      status: 201,
      body: { url: 'https://example.com/x', secret: expect.any(String) },
    });
    expect(listed.body.webhooks).toMatchObject([
      { id, events: ['gate_opened'], failures: 0, retry_at: null },
    ]);
    expect(listed.text).not.toContain(String(made.body.secret));
    expect((await bed.call('DELETE', `/webhooks/${id}`, { as: human })).status).toBe(204);
    expect((await bed.call('DELETE', `/webhooks/${id}`, { as: human })).status).toBe(404);
  });

  test.each([
    [{}, 422],
    [{ url: 'ftp://example.com' }, 422],
    [{ url: 'not an address' }, 422],
    [{ url: 'https://example.com', events: ['no_such_event'] }, 422],
    [{ url: 'https://example.com', secret: 'mine' }, 422],
  ])('refuses %j', async (body, status) => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();

    expect((await bed.post('/webhooks', human, body)).status).toBe(status);
    expect((await bed.get('/webhooks', human)).body.webhooks).toEqual([]);
  });
});

test('GET /workflows lists what can be started, and what is wrong with the rest', async () => {
  const defined = defineWorkflow(FIVE, {
    checks: { tests_are_failing: { parameters: {}, class: 'claimed' } },
  });
  const { workflow } = defined.ok ? defined : { workflow: undefined };
  const entry = { problems: [], phases: ['A', 'B'], format: 'yaml' as const };
  const bed = openApiBed(FIVE, {
    list: async () => [
      { ...entry, id: 'tdd', title: 'Test-driven change', path: 'agent_workflow.yaml' },
      { ...entry, id: 'bad', title: 'Bad', path: 'bad.workflow.yaml' },
      { ...entry, id: 'code', title: 'Code', path: 'code.workflow.ts', format: 'typescript' },
    ],
    load: async (name) => {
      if (name !== 'agent_workflow.yaml' || workflow === undefined) {
        throw new PhasegateError('workflow_invalid', 'it has problems');
      }
      const found = {
        workflow,
        path: name,
        format: 'yaml' as const,
        hash: '',
        closure: '',
        files: {},
        notes: [],
      };
      return { ...found, placeOf: () => null };
    },
  });

  const { status, body } = await bed.get('/workflows', await bed.agent('a1'));

  expect(status).toBe(200);
  expect(body.workflows).toEqual([
    {
      id: 'tdd',
      title: 'Test-driven change',
      description: 'Plan, test, implement, review, complete',
      params: { mode: { type: 'string', required: false, choices: ['quick', 'full'], default: 'full' } },
      phases: 5,
    },
    { id: 'bad', title: 'Bad', phases: 2, problem: 'it has problems' },
    { id: 'code', title: 'Code', phases: 2 },
  ]);
  expect((await bed.get('/workflows', await bed.human())).status).toBe(200);
});

import { defineWorkflow, type Json, own, PhasegateError } from '@phasegate/core';
import { connect } from '@phasegate/sdk';
import { describe, expect, test } from 'vitest';
import { countTurns } from '../fixtures/countTurns.ts';
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

describe('a run that was handed much', () => {
  test('is read in pages of so many bytes, none of its records left out', async () => {
    const { bed, human, run, seqs } = await handedMuch();

    for (const [path, list] of [
      [`/runs/${run}/events?limit=1000`, 'events'],
      [`/audit?run=${run}&limit=1000`, 'records'],
      ['/audit?limit=1000', 'records'],
    ] as const) {
      const seen: Json[] = [];
      let pages = 0;
      for (let after: Json = 0; after !== null; pages += 1) {
        const { body, text } = await bed.get(`${path}&after=${String(after)}`, human);
        expect(text.length, path).toBeLessThan(6_000_000);
        seen.push(...(body[list] as Json[]).filter((record) => own(record, 'run') === run));
        after = body.next_after ?? null;
      }
      expect(pages, path).toBeGreaterThan(3);
      expect(
        seen.map((record) => own(record, 'seq')),
        path,
      ).toEqual(seqs);
      expect(JSON.stringify(seen), path).not.toContain('left_out');
    }
  });

  test('is exported whole, a few records at a time', async () => {
    const { bed, human, run, seqs } = await handedMuch();
    const headers = { authorization: `Bearer ${human}` };
    const answer = await bed.app.request(`/api/v1/audit/export?run=${run}`, { headers });
    let text = '';
    for await (const chunk of answer.body ?? []) {
      expect(chunk.byteLength).toBeLessThan(6_000_000);
      text += Buffer.from(chunk).toString();
    }

    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).seq),
    ).toEqual(seqs);
  });

  test('is looked through for words a few records at a time, from the newest to the oldest', async () => {
    const { bed, human, run } = await handedMuch();
    const turns = countTurns();
    const nothing = await bed.get(`/audit/search?run=${run}&search=zzz`, human);
    const count = turns();
    expect(nothing.body).toMatchObject({ records: [], next_before: null });
    expect(count).toBeGreaterThan(4);

    for (const query of ['search=xxxx', 'event=phase_completed']) {
      const found: Json[] = [];
      for (let before: Json = 0; before !== null; ) {
        const { body, text } = await bed.get(`/audit/search?${query}&limit=1000&before=${before}`, human);
        expect(text.length, query).toBeLessThan(6_000_000);
        found.push(...(body.records as Json[]));
        before = body.next_before ?? null;
      }
      expect(
        found.map((record) => own(own(record, 'data'), 'n')),
        query,
      ).toEqual(Array.from({ length: 15 }, (_, n) => 14 - n));
      expect(JSON.stringify(found), query).not.toContain('left_out');
    }
  });

  test('is given whole to who reads it by the SDK, which takes a short page for the last', async () => {
    const { bed, run, seqs } = await handedMuch();
    const fetched: typeof fetch = async (url, init) => bed.app.fetch(new Request(url, init));
    const client = connect({ url: 'http://localhost', fetch: fetched });
    const code = new URL(await bed.app.signInLink(null)).searchParams.get('code') ?? '';
    await client.signIn({ code });

    const history = await client.asPhasegate().history(run, { limit: 1000 });
    const some = await client.asPhasegate().history(run, { after: 2, limit: 9 });

    expect(history.map(({ seq }) => seq)).toEqual(seqs);
    expect(some.map(({ seq }) => seq)).toEqual(seqs.slice(2, 11));
  });
});

/** A run of 15 MB, in records of 1 MB. */
async function handedMuch() {
  const bed = openApiBed(FIVE);
  const human = await bed.human();
  const { run } = await bed.claimed(await bed.agent('a1'), 'a1');
  const report = 'x'.repeat(1_000_000);
  const time = '2026-11-15T12:00:00.000Z';
  await bed.store.note(
    run,
    Array.from({ length: 15 }, (_, n) => ({
      ...{ time, principal: 'agent:a1', event: 'phase_completed' as const },
      data: { n, evidence: { report } },
    })),
  );
  const history = await bed.store.history(run, { after: 0, limit: 1000 });
  return { bed, human, run, seqs: history.map(({ seq }) => seq) };
}

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

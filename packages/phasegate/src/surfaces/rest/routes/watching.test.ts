import { hash } from 'node:crypto';
import { type Json, type JsonObject, own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { countTurns } from '../fixtures/countTurns.ts';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

describe('what people who watch are told', () => {
  test('how many runs there are, what waits, and what a list says beside its lines', async () => {
    const { bed, maria, run } = await underWay();

    expect((await bed.get('/state/counts', maria)).body).toMatchObject({ runs: { active: 1, waiting: 0 } });
    expect((await bed.get('/state/inbox', maria)).body).toEqual({ items: [], next_skip: null });
    const { body } = await bed.get(`/state/runs?ids=${run}%0Anone`, maria);
    expect(body).toMatchObject({ runs: [{ run, ring: 'served', attempts: 0, last: null }] });
  });

  test('a run that is handed to a human is in the inbox, with why', async () => {
    const { bed, maria, run, token } = await underWay();
    await bed.post(`/runs/${run}/blocked`, token, { reason: 'the fixture is missing' });

    const { body } = await bed.get('/state/inbox', maria);
    expect(body).toMatchObject({ items: [{ run, kind: 'escalation', phase: 'PLAN' }] });
  });

  test('the map of a run has every phase with where the run is, and no agent gets it', async () => {
    const { bed, maria, run, token } = await underWay();
    const { body } = await bed.get(`/runs/${run}/map`, maria);

    expect(body).toMatchObject({ run, completions: [], scope: { writes: expect.any(Array) } });
    const nodes = own(body, 'nodes') as readonly { readonly id: unknown; readonly status: unknown }[];
    expect(nodes.find(({ id }) => id === 'PLAN')).toMatchObject({ status: 'current', visits: 1 });
    expect(nodes.find(({ id }) => id === 'TDD')).toMatchObject({ status: 'ahead', visits: 0 });
    expect((await bed.get(`/runs/${run}/map`, token)).status).toBe(403);
    expect((await bed.get('/runs/none/map', maria)).status).toBe(404);
  });

  test('the map of a run that was handed much has hashes and sizes of what is large, and others are served', async () => {
    const { bed, maria, run } = await underWay();
    const stored = await bed.store.load(run);
    if (stored === undefined) throw new Error('there is no run');
    const text = 'x'.repeat(1_000_000);
    const of = (visit: number, evidence: JsonObject) => ({
      ...{ phase: 'PLAN', visit, at: stored.run.startedAt, by: 'a1', outcome: 'ok' as const },
      evidence,
    });
    const large = Array.from({ length: 20 }, (_, n) => of(n + 1, { text: text + n, note: 'small', n }));
    const completions = [...large, of(21, { plan: 'p'.repeat(5_000) })];
    const time = stored.run.startedAt;
    const note = { time, principal: 'agent:a1', event: 'phase_completed', data: {} } as const;
    await bed.store.save({ ...stored.run, completions }, stored.version, [note]);
    const turns = countTurns();
    const answer = await bed.get(`/runs/${run}/map`, maria);

    expect(answer.status).toBe(200);
    expect(turns()).toBeGreaterThanOrEqual(4);
    expect(answer.text.length).toBeLessThan(100_000);
    const shown = own(answer.body, 'completions') as readonly Json[];
    expect(shown.at(-1)).toMatchObject({ visit: 21, evidence: { plan: 'p'.repeat(5_000) } });
    expect(shown.at(-1)).not.toHaveProperty('left_out');
    expect(shown[3]).toMatchObject({
      evidence: { note: 'small', n: 3 },
      left_out: [
        {
          of: 'evidence',
          name: 'text',
          sha256: hash('sha256', JSON.stringify(`${text}3`)),
          size: 1_000_003,
        },
      ],
    });
    expect((await bed.get(`/runs/${run}/map`, maria)).text).toBe(answer.text);
  });

  test('runs are found by words in their id, workflow, agent or phase', async () => {
    const { bed, maria, run } = await underWay();
    const found = async (words: string) => {
      const { body } = await bed.get(`/runs?search=${encodeURIComponent(words)}`, maria);
      return (own(body, 'runs') as readonly { readonly run: string }[]).map((line) => line.run);
    };

    expect(await found(run.slice(0, 8).toUpperCase())).toEqual([run]);
    expect(await found('plan')).toEqual([run]);
    expect(await found('nothing like it')).toEqual([]);
  });

  test('what agents were denied is counted by rule', async () => {
    const { bed, maria, token } = await underWay();
    await bed.post('/tools/check', token, { tool: 'bash', input: { command: 'rm -rf .' } });
    await bed.post('/tools/check', token, { tool: 'bash', input: { command: 'rm -rf .' } });

    expect((await bed.get('/state/activity', maria)).body).toMatchObject({
      agents: [{ agent: 'a1', calls: 2, denied: 2 }],
      denials: [{ code: 'tool_forbidden', tool: 'bash', times: 2, agents: ['a1'] }],
    });
  });
});

test('how runs of a workflow fare is counted phase by phase, refusals among it [S2.76]', async () => {
  const { bed, maria, token } = await underWay();
  await bed.post('/tasks/transition', token, { artifacts: {} });
  const { body } = await bed.get(`/workflows/${FIVE.id}/record`, maria);

  expect(body).toMatchObject({
    workflow: FIVE.id,
    runs: 1,
    phases: [{ phase: 'PLAN', entered: 1, passed: 0, refused: 1, median_seconds: null }],
  });
  expect((await bed.get('/workflows/none', maria)).status).toBe(404);
});

describe('looking for records', () => {
  test('the newest come first, page by page, of all chains or one run', async () => {
    const { bed, maria, run } = await underWay();
    const seen: number[] = [];
    for (let before: unknown = 0; before !== null; ) {
      const { body } = await bed.get(`/audit/search?limit=2&before=${before}`, maria);
      seen.push(...(own(body, 'records') as readonly { readonly id: number }[]).map(({ id }) => id));
      before = own(body, 'next_before');
    }

    expect(seen).toEqual([...seen].sort((one, other) => other - one));
    expect(seen.at(-1)).toBe(1);
    const { body } = await bed.get(`/audit/search?run=${run}&event=run_started,run_claimed`, maria);
    expect((own(body, 'records') as readonly { readonly event: string }[]).map(({ event }) => event)).toEqual(
      ['run_claimed', 'run_started'],
    );
    expect((await bed.get('/audit/search?principal=agent:nobody', maria)).body).toMatchObject({
      records: [],
    });
    expect((await bed.get('/audit/search?before=x', maria)).status).toBe(422);
  });

  test('from behind the newest it begins at the newest, however far behind', async () => {
    const { bed, maria } = await underWay();
    const search = async (query: string) => (await bed.get(`/audit/search?limit=1${query}`, maria)).body;

    expect(await search('&before=900000000000000')).toEqual(await search(''));
    expect(await search('&before=900000000000000&search=nothing-like-it')).toMatchObject({
      records: [],
      next_before: null,
    });
  });
});

describe('who is signed in where', () => {
  test('sessions are listed by ids that open nothing, and one that is ended is over', async () => {
    const { bed, maria } = await underWay();
    const other = await bed.human('maria');
    const { body } = await bed.get('/sessions', maria);
    const sessions = own(body, 'sessions') as readonly { readonly id: string; readonly current: boolean }[];

    expect(sessions.map(({ current }) => current).sort()).toEqual([false, true]);
    const [ended] = sessions.filter(({ current }) => !current);
    expect((await bed.call('DELETE', '/sessions/none', { as: maria, body: {} })).status).toBe(404);
    expect(
      (await bed.call('DELETE', `/sessions/${ended?.id}`, { as: maria, body: { more: 1 } })).status,
    ).toBe(422);
    expect((await bed.call('DELETE', `/sessions/${ended?.id}`, { as: maria, body: {} })).status).toBe(204);
    expect((await bed.get('/sessions', other)).status).toBe(401);
    expect((await bed.get('/humans', maria)).body).toMatchObject({
      humans: [{ name: 'maria', role: 'admin' }],
    });
  });
});

async function underWay() {
  const bed = openApiBed(FIVE);
  const maria = await bed.human('maria');
  await bed.trust('maria');
  const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
  return { bed, maria, run, token };
}

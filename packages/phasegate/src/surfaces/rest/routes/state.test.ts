import type { Json } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE, PLAN } from './fixtures/workflows.ts';

test('an agent sees its own run as it may, changes nothing by looking, and nothing later [S2.18 S2.23 S2.62]', async () => {
  const bed = openApiBed(FIVE);
  const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
  const before = await bed.records();

  const { status, body, text } = await bed.get('/state/snapshot', token);

  expect(status).toBe(200);
  expect(body).toMatchObject({ task: { id: run, phase: 'PLAN', holder: 'a1' }, truncated: [] });
  expect(text).not.toContain('SECRET OF IMPL');
  expect(await bed.records()).toBe(before);
});

test('a human sees the runs by status, who holds what, what waits, and the newest events', async () => {
  const bed = openApiBed({ ...FIVE, phases: FIVE.phases.slice(3) as typeof FIVE.phases, gates: GATES });
  const human = await bed.human();
  const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
  await bed.post('/tasks/transition', token, { artifacts: { review: { summary: 'fine' } } });
  await bed.post('/runs', human, { workflow: 'tdd' });

  const { body } = await bed.get('/state/snapshot', human);

  expect(body).toMatchObject({
    runs: { queued: 1, active: 0, waiting: 1, escalated: 0, completed: 0, stopped: 0 },
    leases: [{ run, agent: 'a1' }],
    waiting: [{ run, gate: { prompt: 'Ship it?' } }],
    truncated: [],
  });
  expect(body.open).toHaveLength(2);
  expect((body.events as Json[])[0]).toMatchObject({ event: 'run_started', principal: 'human:operator' });
});

test('stays under 100 KB whatever was submitted, and says what was cut [S2.73]', async () => {
  const bed = openApiBed(FIVE);
  const human = await bed.human();
  const { run, token } = await bed.claimed(await bed.agent('a1'), 'a1');
  await bed.get(`/runs/${run}/tasks/PLAN/1`, token);
  const scope: Json = Array.from({ length: 900 }, (_, index) => `${index} ${'🙂'.repeat(200)}`);
  const { body: next } = await bed.post('/tasks/transition', token, {
    artifacts: { plan: PLAN.plan, scope },
  });

  for (const as of [String(next.phase_token), human]) {
    const { status, body, text } = await bed.get('/state/snapshot', as);

    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThan(100_000);
    expect(body.truncated).not.toEqual([]);
  }
});

test('is for a token or a human', async () => {
  const bed = openApiBed(FIVE);

  expect((await bed.get('/state/snapshot', await bed.agent('a1'))).status).toBe(403);
  expect((await bed.get('/state/snapshot')).status).toBe(401);
});

const GATES = {
  ship: {
    human: { prompt: 'Ship it?', options: [{ label: 'Approve' }, { label: 'Reject', next: null }] },
  },
};

import type { Json } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

test('POST /runs/:id/override leads past the phase, signed by the one who signed in, and is closed to agents [C18 adv.H3]', async () => {
  const { bed, run, maria } = await atGate();
  const path = `/runs/${run}/override`;
  const order = { reason: 'the registry is down' };
  expect((await bed.post(path, undefined, order)).status).toBe(401);
  expect((await bed.post(path, await bed.agent('a9'), order)).status).toBe(403);
  expect((await bed.post(path, maria, {})).status).toBe(422);

  const { status, body } = await bed.post(path, maria, order);

  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'active', overrides: [{ ...order, by: 'maria' }] });
  const [{ phase }] = body.overrides as [{ phase: string }];
  expect(body.completed_phases).not.toContain(phase);
  expect((await bed.get('/runs', maria)).body).toMatchObject({ runs: [{ run, overridden: 1 }] });
  expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [], overridden: 1 });
});

test('an override is about the run that was displayed, and about no later one', async () => {
  const { bed, run, maria } = await atGate();
  const path = `/runs/${run}/override`;
  const epoch = Number((await bed.get(`/runs/${run}`, maria)).body.epoch);
  const order = { reason: 'the registry is down' };

  const { status, body } = await bed.post(path, maria, { ...order, epoch: epoch - 1 });

  expect(status).toBe(409);
  expect(body).toMatchObject({ blockers: [{ code: 'shown_changed' }] });
  expect((await bed.post(path, maria, { ...order, epoch })).status).toBe(200);
});

describe('POST /runs/:id/decisions', () => {
  test('signs the choice of the one who signed in, over what was shown', async () => {
    const { bed, run, maria } = await atGate();
    const card = (await bed.get(`/runs/${run}/gate`, maria)).body;
    expect(JSON.stringify(card.card)).toContain('all is well');

    const { status, body } = await bed.post(`/runs/${run}/decisions`, maria, decision(card, 'Approve'));

    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'active', phase: 'END' });
    const decided = (await history(bed, run)).find(({ event }) => event === 'gate_decided');
    expect(decided).toMatchObject({
      principal: 'human:maria',
      data: { decision: { option: 'Approve', by: 'maria' } },
    });
    expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });

  test('refuses what is no longer what was shown, an unknown option, and a missing input [adv.J6]', async () => {
    const { bed, run, maria } = await atGate();
    const card = (await bed.get(`/runs/${run}/gate`, maria)).body;
    const stale = decision({ ...card, shown: '0'.repeat(64) }, 'Approve');

    const answers = [
      await bed.post(`/runs/${run}/decisions`, maria, stale),
      await bed.post(`/runs/${run}/decisions`, maria, decision(card, 'Maybe')),
      await bed.post(`/runs/${run}/decisions`, maria, decision(card, 'Reject')),
      await bed.post(`/runs/${run}/decisions`, maria, decision({ ...card, gate: 'ship#9' }, 'Approve')),
    ];

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [409, 'shown_changed'],
      [409, 'option_unknown'],
      [409, 'input_required'],
      [409, 'gate_unknown'],
    ]);
    for (const { body } of answers) {
      expect(body.next_action).toContain('/decisions with');
      expect(body.blockers).toMatchObject([{ next_action: body.next_action }]);
    }
    expect((await bed.get(`/runs/${run}`, maria)).body).toMatchObject({
      status: 'waiting',
      completed_phases: [],
    });
  });

  test('is closed to the agent, by key and by token, and to nobody [C18 adv.H1 adv.J1]', async () => {
    const { bed, run, maria, key, token } = await atGate();
    const card = (await bed.get(`/runs/${run}/gate`, maria)).body;

    for (const verb of ['decisions', 'answers', 'resume', 'stop', 'fence', 'override']) {
      for (const [as, status] of [
        [key, 403],
        [token, 403],
        [undefined, 401],
      ] as const) {
        expect((await bed.post(`/runs/${run}/${verb}`, as, decision(card, 'Approve'))).status).toBe(status);
      }
    }
    expect((await bed.get(`/runs/${run}/gate`, token)).status).toBe(403);
    expect((await bed.get(`/runs/${run}`, maria)).body).toMatchObject({ status: 'waiting' });
  });

  test('takes no name: who decides is who signed in [adv.J2]', async () => {
    const { bed, run, maria } = await atGate();
    const card = (await bed.get(`/runs/${run}/gate`, maria)).body;

    const got = await bed.post(`/runs/${run}/decisions`, maria, { ...decision(card, 'Approve'), by: 'ada' });

    expect(got.status).toBe(422);
    expect(got.body).toMatchObject({
      problems: [{ field: 'by', message: expect.stringContaining('not known') }],
    });
  });

  test('answers `no_human` to a session of nobody in particular, who is shown the card all the same', async () => {
    const bed = openApiBed(GATED);
    const operator = await bed.human();
    const { run } = await waiting(bed);
    const card = (await bed.get(`/runs/${run}/gate`, operator)).body;

    const { status, body } = await bed.post(`/runs/${run}/decisions`, operator, decision(card, 'Approve'));

    expect(status).toBe(403);
    expect(body).toMatchObject({ error: 'no_human' });
    expect((await bed.get(`/runs/${run}`, operator)).body).toMatchObject({ status: 'waiting' });
  });

  test('one approval serves one gate: it cannot be used again [adv.J5 adv.J11]', async () => {
    const { bed, run, maria } = await atGate();
    const card = (await bed.get(`/runs/${run}/gate`, maria)).body;
    await bed.post(`/runs/${run}/decisions`, maria, decision(card, 'Approve'));

    const again = await bed.post(`/runs/${run}/decisions`, maria, decision(card, 'Approve'));

    expect(again).toMatchObject({ status: 409, body: { error: 'run_not_waiting' } });
  });
});

describe('GET /runs/:id/gate', () => {
  test('says where there is none', async () => {
    const bed = openApiBed(FIVE);
    const human = await bed.human();
    const { run } = await bed.claimed(await bed.agent('a1'), 'a1');

    expect(await bed.get(`/runs/${run}/gate`, human)).toMatchObject({
      status: 409,
      body: { error: 'run_not_waiting', run_status: 'active', blockers: [{ code: 'run_not_waiting' }] },
    });
    expect((await bed.get('/runs/none/gate', human)).status).toBe(404);
  });

  test('is shown to a human with all that was submitted, and to the agent without', async () => {
    const { bed, run, maria, token } = await atGate();
    const { shown } = (await bed.get(`/runs/${run}/gate`, maria)).body;

    const human = await bed.get(`/runs/${run}`, maria);
    const agent = await bed.get(`/runs/${run}`, token);

    expect(human.body.gate).toMatchObject({ quorum: 1, context: expect.any(Object), shown });
    expect(agent.body.gate).not.toHaveProperty('shown');
    expect(JSON.stringify(human.body.gate)).toContain('all is well');
    expect(agent.body.gate).not.toHaveProperty('context');
    expect(JSON.stringify(agent.body.gate)).not.toContain('all is well');
  });
});

describe('POST /runs/:id/stop', () => {
  test('ends the run, and the token is dead', async () => {
    const { bed, run, maria, token } = await atGate();

    const { status, body } = await bed.post(`/runs/${run}/stop`, maria, { reason: 'enough' });

    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'stopped', phase: null, reason: 'enough' });
    expect((await bed.get(`/runs/${run}/phase`, token)).status).toBe(403);
    expect(await bed.post(`/runs/${run}/stop`, maria, { reason: 'enough' })).toMatchObject({
      status: 409,
      body: { error: 'run_ended' },
    });
  });
});

test.each([
  ['decisions', {}, ['gate', 'option', 'shown']],
  ['decisions', { gate: 1, option: '', shown: null, input: 5 }, ['gate', 'input', 'option', 'shown']],
  ['answers', { question: 1 }, ['option']],
  ['answers', { question: 0, option: 'a', text: 'b' }, ['question', 'text']],
  ['answers', { question: 2 ** 53, text: 'b' }, ['question']],
  ['resume', { note: '' }, ['note']],
  ['stop', {}, ['reason']],
  ['stop', { reason: 'x', force: true }, ['force']],
])('%s with %j is refused by field, and nothing changed', async (verb, body, fields) => {
  const bed = openApiBed(GATED);
  const operator = await bed.human();
  const { run } = await waiting(bed);
  const before = await bed.records();

  const got = await bed.post(`/runs/${run}/${verb}`, operator, body as Json);

  expect(got.status).toBe(422);
  expect((got.body.problems as { field: string }[]).map(({ field }) => field).sort()).toEqual(fields);
  expect(await bed.records()).toBe(before);
});

const GATED = {
  ...FIVE,
  phases: [{ id: 'REVIEW', artifacts: [{ type: 'review' }], gates: ['ship'] }, { id: 'IMPL' }, { id: 'END' }],
  gates: {
    ship: {
      human: {
        prompt: 'Ship it?',
        context: ['review.summary'],
        options: [
          { label: 'Approve', next: 'END', approves: true },
          { label: 'Reject', next: 'IMPL', requiresInput: true },
        ],
      },
    },
  },
};

async function atGate() {
  const bed = openApiBed(GATED);
  const maria = await bed.human('maria');
  await bed.trust('maria');
  return { bed, maria, ...(await waiting(bed)) };
}

async function waiting(bed: ApiBed) {
  const key = await bed.agent('a1');
  const { run, token } = await bed.claimed(key, 'a1');
  await bed.post('/tasks/transition', token, { artifacts: { review: { summary: 'all is well' } } });
  return { run, token, key };
}

function decision(card: { readonly [key: string]: Json }, option: string) {
  return { gate: card.gate ?? '', option, shown: card.shown ?? '' };
}

function history({ project }: ApiBed, run: string) {
  return project.as({ kind: 'human', name: 'maria' }).history(run);
}

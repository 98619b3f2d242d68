import { expect, test } from 'vitest';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE, PLAN } from './fixtures/workflows.ts';

const GOAL = { goal: 'add a subtract function', goal_by: 'human ada' };

test('a goal is told with whose words it is, to the human and to the agent', async () => {
  const bed = openApiBed(FIVE);
  const human = await bed.human('ada');
  const key = await bed.agent('bob');
  await bed.trust('ada');

  const started = await bed.post('/runs', human, { workflow: 'tdd', goal: ` ${GOAL.goal}\n` });
  const run = String(started.body.run);
  const claimed = await bed.post('/tasks/claim', key, { agent_id: 'bob' });
  const token = String(claimed.body.phase_token);

  expect(started.status).toBe(201);
  expect(claimed.body).toMatchObject({ task: { id: run, ...GOAL } });
  expect((await bed.get(`/runs/${run}`, human)).body).toMatchObject(GOAL);
  expect((await bed.get('/runs', human)).body).toMatchObject({ runs: [{ run, ...GOAL }] });
  expect((await bed.get(`/runs/${run}/phase`, token)).body).toMatchObject(GOAL);
  expect((await bed.get('/state/snapshot', token)).body).toMatchObject({ task: GOAL });
  expect((await bed.get('/state/snapshot', human)).body).toMatchObject({ open: [GOAL] });
  await bed.get(`/runs/${run}/tasks/PLAN/1`, token);
  const next = await bed.post('/tasks/transition', token, { artifacts: PLAN });
  expect(next.body).toMatchObject({ allowed: true, task: GOAL });
});

test('a run without a goal has no field for one', async () => {
  const bed = openApiBed(FIVE);
  const human = await bed.human();
  const { run } = (await bed.post('/runs', human, { workflow: 'tdd' })).body;

  expect((await bed.get(`/runs/${String(run)}`, human)).body).not.toHaveProperty('goal');
  expect((await bed.get('/runs', human)).text).not.toContain('goal');
});

test.each([
  ['nothing', '', 'the goal is empty'],
  ['blanks', ' \n ', 'the goal is empty'],
  ['a control character', 'a\u001b[2J', 'U+001B'],
  ['too many characters', 'x'.repeat(2001), 'may have 2000'],
  ['a number', 7, 'must be text'],
  ['null', null, 'must be text'],
  ['a list', ['add it'], 'must be text'],
])('a goal of %s is refused with the field, and makes no run', async (_, goal, why) => {
  const bed = openApiBed(FIVE);
  const human = await bed.human();

  const { status, body } = await bed.post('/runs', human, { workflow: 'tdd', goal });

  expect(status).toBe(422);
  expect(body).toMatchObject({
    error: 'request_invalid',
    problems: [{ field: 'goal', message: expect.stringContaining(why) }],
  });
  expect((await bed.get('/runs', human)).body).toEqual({ runs: [], next_offset: null });
});

test('2,000 characters are a goal, whatever they are made of', async () => {
  const bed = openApiBed(FIVE);
  const human = await bed.human();
  const { status } = await bed.post('/runs', human, { workflow: 'tdd', goal: '😀'.repeat(2000) });
  expect(status).toBe(201);
});

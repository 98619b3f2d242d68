import { expect, test } from 'vitest';
import { connect, makeTestBed } from '../fixtures/connect.ts';

test('an agent that has not shown the capabilities of a workflow does not start it, and is told how it is done', async () => {
  const bed = await makeTestBed({
    'agent_workflow.yaml':
      'workflow: errand\ncapabilities: [python]\nphases: { GO: { instructions: Go there } }\n',
  });
  await bed.open.agents.add('bob', { capabilities: ['python'], by: null });
  const local = await connect(bed.parts(), { era: 'modern' });
  const bob = await connect(bed.parts({ kind: 'agent', name: 'bob' }), { era: 'modern' });

  expect(await local.call('start_workflow', { workflow_type: 'errand' })).toMatchObject({
    error: 'capability_missing',
    next_action: expect.stringContaining('phasegate start errand --queue'),
  });
  expect(await bob.call('start_workflow', { workflow_type: 'errand' })).toMatchObject({ resumed: false });
});

test('where there is one run per target its agent takes it up again, and another is told of it', async () => {
  const bed = await makeTestBed({
    'agent_workflow.yaml':
      'workflow: errand\none_run_per: target\nparams: { mode: { type: string, default: full } }\nphases: { GO: { instructions: Go there } }\n',
  });
  const ada = await connect(bed.parts({ kind: 'agent', name: 'ada' }), { era: 'modern' });
  const bob = await connect(bed.parts({ kind: 'agent', name: 'bob' }), { era: 'modern' });
  const first = await ada.call('start_workflow', { workflow_type: 'errand', target_file: 'a.ts' });

  const again = await ada.call('start_workflow', { workflow_type: 'errand', target_file: './a.ts ' });
  const other = await ada.call('start_workflow', {
    workflow_type: 'errand',
    target_file: 'a.ts',
    options: { mode: 'quick' },
  });
  const others = await bob.call('start_workflow', { workflow_type: 'errand', target_file: 'a.ts' });

  expect(again).toMatchObject({ resumed: true, session_id: first.session_id });
  for (const refused of [other, others]) {
    expect(refused).toMatchObject({
      error: 'run_exists',
      next_action: expect.stringContaining(String(first.session_id)),
    });
  }
});

test('a start that hangs keeps its own agent waiting, so many times, and no other [adv.O5]', async () => {
  const bed = await makeTestBed({ 'agent_workflow.yaml': 'workflow: errand\nphases: { GO: {} }\n' });
  const parts = (name: string) => ({ ...bed.parts({ kind: 'agent', name }), agent: name });
  const hanging = Promise.withResolvers<void>();
  const catalog = {
    ...bed.project.catalog,
    load: async (...asked: Parameters<typeof bed.project.catalog.load>) => {
      await hanging.promise;
      return bed.project.catalog.load(...asked);
    },
  };
  const ada = await connect({ ...parts('ada'), catalog }, { era: 'legacy' });
  const bob = await connect(parts('bob'), { era: 'legacy' });

  const three = [1, 2, 3].map((n) =>
    ada.call('start_workflow', { workflow_type: 'errand', target_file: `${n}` }),
  );
  expect(await bob.call('start_workflow', { workflow_type: 'errand' })).toMatchObject({ resumed: false });

  const more = Array.from({ length: 14 }, (_, n) =>
    ada.call('start_workflow', { workflow_type: 'errand', target_file: `more ${n}` }),
  );
  expect(await ada.call('start_workflow', { workflow_type: 'errand' })).toMatchObject({
    error: 'rate_limited',
    message: '`ada` has too many starts under way',
  });

  hanging.resolve();
  for (const started of await Promise.all([...three, ...more]))
    expect(started).toMatchObject({ resumed: false });
});

test('a goal is told with every phase, and a run under way keeps the one it was started with', async () => {
  const bed = await makeTestBed({
    'agent_workflow.yaml': 'workflow: errand\nphases: { GO: { instructions: Go }, BACK: {} }\n',
  });
  const ada = await connect(bed.parts({ kind: 'agent', name: 'ada' }), { era: 'modern' });
  const start = (goal?: string) =>
    ada.call('start_workflow', { workflow_type: 'errand', ...(goal === undefined ? {} : { goal }) });
  const goal = { goal: 'fetch the milk', goal_by: 'agent ada' };

  const first = await start(' fetch the milk ');
  const session = { session_id: String(first.session_id) };
  expect(first).toMatchObject({ resumed: false, ...goal });
  expect(await ada.call('get_current_phase', session)).toMatchObject(goal);
  expect(await ada.call('get_workflow_state', session)).toMatchObject(goal);

  const another = await start('drop the milk');
  expect(another).toMatchObject({ resumed: true, ...session, ...goal });
  expect(another.message).toContain('keeps the goal it was started with');
  for (const same of [await start('fetch the milk'), await start()]) {
    expect(same).toMatchObject({ resumed: true, ...session, ...goal });
    expect(same).not.toHaveProperty('message');
  }
});

test('a run that was started without a goal gets none later', async () => {
  const bed = await makeTestBed({ 'agent_workflow.yaml': 'workflow: errand\nphases: { GO: {} }\n' });
  const ada = await connect(bed.parts({ kind: 'agent', name: 'ada' }), { era: 'modern' });
  await ada.call('start_workflow', { workflow_type: 'errand' });

  const again = await ada.call('start_workflow', { workflow_type: 'errand', goal: 'fetch the milk' });

  expect(again).not.toHaveProperty('goal');
  expect(again.message).toContain('was not taken');
});

test.each([
  ['empty', '', 'the goal is empty'],
  ['of blanks', ' \n', 'the goal is empty'],
  ['with a control character', 'a\u0007', 'U+0007'],
  ['too long', 'x'.repeat(2001), 'may have 2000'],
  ['a number', 7, 'must be text, got a number'],
  ['a list', ['go'], 'must be text, got a list'],
])('a goal that is %s starts nothing, and what to do is said', async (_, goal, why) => {
  const bed = await makeTestBed({ 'agent_workflow.yaml': 'workflow: errand\nphases: { GO: {} }\n' });
  const ada = await connect(bed.parts({ kind: 'agent', name: 'ada' }), { era: 'modern' });

  const refused = await ada.call('start_workflow', { workflow_type: 'errand', goal });

  expect(refused).toMatchObject({ error: expect.any(String), message: expect.stringContaining(why) });
  expect(`${String(refused.message)} ${String(refused.hint)}`).toMatch(/leave|say/);
  expect(await bed.open.as({ kind: 'agent', name: 'ada' }).runs()).toEqual([]);
});

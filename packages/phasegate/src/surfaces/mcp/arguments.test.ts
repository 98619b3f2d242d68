import { expect, test } from 'vitest';
import { connect, makeTestBed } from './fixtures/connect.ts';
import { ERRAND } from './fixtures/workflows.ts';
import { TOOLS } from './toolTable.ts';

test.each(TOOLS.map(({ name }) => name))(
  '%s refuses an argument it does not have, and names those it has',
  async (name) => {
    const bed = await makeTestBed({ 'agent_workflow.yaml': ERRAND });
    const { client } = await connect(bed.parts(), { era: 'modern' });
    const input = Object.keys(TOOLS.find((tool) => tool.name === name)?.input ?? {});

    const { isError, structuredContent } = await client.callTool({ name, arguments: { force: true } });

    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({
      error: 'usage',
      message: expect.stringContaining(`\`${name}\` has no argument \`force\``),
      hint: expect.stringContaining(input.map((word) => `\`${word}\``).join(', ')),
    });
  },
);

test('a worktree is not started over MCP, and the answer says where it is', async () => {
  const bed = await makeTestBed({ 'agent_workflow.yaml': ERRAND });
  const { client } = await connect(bed.parts(), { era: 'modern' });

  const asked = { workflow_type: 'errand', worktree: true };
  const { structuredContent } = await client.callTool({ name: 'start_workflow', arguments: asked });

  expect(structuredContent).toMatchObject({
    error: 'usage',
    hint: expect.stringContaining('phasegate start WORKFLOW --worktree'),
  });
});

test('of any number of unknown arguments a few are named [adv.O4]', async () => {
  const bed = await makeTestBed({ 'agent_workflow.yaml': ERRAND });
  const { client } = await connect(bed.parts(), { era: 'modern' });
  const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`n${index}`, 1]));

  const answer = await client.callTool({ name: 'get_workflow_state', arguments: unknown });

  expect(JSON.stringify(answer)).toContain('and 4980 more');
  expect(JSON.stringify(answer).length).toBeLessThan(5000);
});

test('a mistyped argument does nothing: the phase is not completed without it', async () => {
  const bed = await makeTestBed({ 'agent_workflow.yaml': ERRAND });
  const { call } = await connect(bed.parts(), { era: 'legacy' });
  const session_id = String((await call('start_workflow', { workflow_type: 'errand' })).session_id);
  for (const task_number of [1, 2]) await call('get_task', { session_id, phase: 'LOOK', task_number });
  const work = { session_id, phase: 'LOOK', evidence: { notes: 'a hill' } };

  const mistyped = await call('complete_phase', { ...work, outcom: 'fail' });
  const state = await call('get_workflow_state', { session_id });
  const completed = await call('complete_phase', work);

  expect(mistyped).toMatchObject({
    error: 'usage',
    message: expect.stringContaining('did you mean `outcome`?'),
  });
  expect(state).toMatchObject({ current_phase: 'LOOK' });
  expect(completed).toMatchObject({ checkpoint_passed: true, next_phase: 'GO' });
});

test('the next phase comes with what it asks for', async () => {
  const bed = await makeTestBed({ 'agent_workflow.yaml': ERRAND });
  const { call } = await connect(bed.parts(), { era: 'modern' });
  const session_id = String((await call('start_workflow', { workflow_type: 'errand' })).session_id);
  for (const task_number of [1, 2]) await call('get_task', { session_id, phase: 'LOOK', task_number });

  const answer = await call('complete_phase', { session_id, phase: 'LOOK', evidence: { notes: 'a hill' } });
  const { checkpoint_criteria } = await call('get_current_phase', { session_id });

  expect(answer.checkpoint_criteria).toEqual(checkpoint_criteria);
  expect(answer).toMatchObject({
    checkpoint_criteria: { required_evidence: { arrived: { schema: { required: ['there'] } } } },
  });
});

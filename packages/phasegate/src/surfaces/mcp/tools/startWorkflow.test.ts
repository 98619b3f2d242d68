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

import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { connect, makeTestBed } from './fixtures/connect.ts';

describe('what was done for an earlier visit [adv.O7]', () => {
  const LOOP = {
    'loop.workflow.yaml': `workflow: loop
phases:
  A: { next: { condition: result.good === true, on_true: B, on_false: A, max_iterations: 3 } }
  B: { next: { condition: result.end === true, on_true: C, on_false: A, max_iterations: 3 } }
  C: {}
`,
  };
  const QUESTIONS = [{ text: 'Which?', options: ['a', 'b'] }];
  const LATE: readonly (readonly [string, JsonObject])[] = [
    ['complete_phase', { phase: 'A', evidence: { good: true } }],
    ['complete_phase', { phase: 1, evidence: { good: true } }],
    ['ask_human', { questions: QUESTIONS }],
    ['report_blocked', { reason: 'late' }],
  ];

  /** A run that another connection sent back to the beginning of `A`. */
  async function sentBack() {
    const bed = await makeTestBed(LOOP);
    const other = await connect(bed.parts(), { era: 'legacy' });
    const session_id = String((await other.call('start_workflow', { workflow_type: 'loop' })).session_id);
    const back = { session_id, phase: 'A', evidence: { good: false } };
    return { bed, other, session_id, sendBack: () => other.call('complete_phase', back) };
  }

  test.each(LATE)(
    'does nothing by `%s` with %j to a later one, until the agent has looked',
    async (tool, args) => {
      const { bed, other, session_id, sendBack } = await sentBack();
      const one = await connect(bed.parts(), { era: 'legacy' });
      await one.call('get_current_phase', { session_id });
      await sendBack();

      for (const _ of ['first', 'again']) {
        expect(await one.call(tool, { session_id, ...args })).toMatchObject({
          error: 'run_changed',
          next_action: 'get_workflow_state(session_id)',
        });
      }
      expect(await other.call('get_workflow_state', { session_id })).toMatchObject({ status: 'active' });
      await one.call('get_workflow_state', { session_id });
      expect(await one.call(tool, { session_id, ...args })).not.toHaveProperty('error');
    },
  );

  test.each(LATE)(
    'does nothing by `%s` with %j as the first call of an agent that was started for it',
    async (tool, args) => {
      const { bed, other, session_id, sendBack } = await sentBack();
      await sendBack();
      const one = await connect({ ...bed.parts(), epochs: new Map([[session_id, 1]]) }, { era: 'legacy' });

      expect(await one.call(tool, { session_id, ...args })).toMatchObject({ error: 'run_changed' });
      expect(await other.call('get_workflow_state', { session_id })).toMatchObject({ status: 'active' });
    },
  );

  test('does not complete a phase the run came back to by way of another', async () => {
    const { bed, other, session_id } = await sentBack();
    const one = await connect(bed.parts(), { era: 'legacy' });
    const forward = { session_id, phase: 'A', evidence: { good: true } };
    await other.call('complete_phase', forward);
    await one.call('get_current_phase', { session_id });
    expect(
      await one.call('complete_phase', { session_id, phase: 'B', evidence: { end: false } }),
    ).toMatchObject({
      next_phase: 'A',
    });
    await other.call('get_current_phase', { session_id });
    await other.call('complete_phase', forward);

    expect(
      await one.call('complete_phase', { session_id, phase: 'B', evidence: { end: false } }),
    ).toMatchObject({
      error: 'run_changed',
    });
  });
});

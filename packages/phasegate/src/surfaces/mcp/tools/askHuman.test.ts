import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { connect, ERAS, makeTestBed } from '../fixtures/connect.ts';
import { ERRAND, GATED } from '../fixtures/workflows.ts';

const questions = [
  { text: 'Which way?', options: ['North', 'South'] },
  { text: 'How fast?', options: ['Walk', 'Run', 'Ride'] },
];

describe.each(ERAS)('in the %s era', (era) => {
  test('a client with forms asks its user at once, and the answers are recorded as elicited', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const asked: string[] = [];
    const { call } = await connect(bed.parts(), {
      era,
      elicit: (message) => {
        asked.push(message);
        return { action: 'accept', content: { answer_1: 'South', answer_2: 'Ride' } };
      },
    });
    const { session_id = '' } = await call('start_workflow', { workflow_type: 'errand' });

    const answer = await call('ask_human', { session_id, questions });

    expect(asked).toEqual(['Which way?\nHow fast?']);
    expect(answer).toMatchObject({
      session_id,
      status: 'active',
      answers: [
        { question: 1, text: 'South', elicited: true },
        { question: 2, text: 'Ride', elicited: true },
      ],
      next_action: expect.stringContaining('get_task('),
    });
    expect((await call('get_current_phase', { session_id })).phase_content).toContain(
      'Question 1, asked by an agent:\n> Which way?\nAnswer to question 1, through the client of agent `local`, not by a known human:\n> South',
    );
  });

  test.each([
    ['declined', { action: 'decline' as const }],
    ['cancelled', { action: 'cancel' as const }],
    ['answered by something that was no option', { action: 'accept' as const, content: { answer_1: 'Up' } }],
  ])('a form that is %s leaves the run waiting for a human', async (_name, reply) => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const { call } = await connect(bed.parts(), { era, elicit: () => reply });
    const { session_id = '' } = await call('start_workflow', { workflow_type: 'errand' });

    const answer = await call('ask_human', { session_id, questions });

    expect(answer).toMatchObject(waitingFor(String(session_id)));
    expect(answer.answers).toBeUndefined();
  });

  test('a client without forms gets told that a human answers, and asking again asks nothing new', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const { call } = await connect(bed.parts(), { era });
    const { session_id = '' } = await call('start_workflow', { workflow_type: 'errand' });

    const answer = await call('ask_human', { session_id, questions });
    const again = await call('ask_human', { session_id, questions });
    const other = await call('ask_human', { session_id, questions: questions.slice(1) });

    expect(answer).toMatchObject(waitingFor(String(session_id)));
    expect(again).toEqual(answer);
    expect(other).toMatchObject({ error: 'run_waiting', next_action: answer.next_action });
  });

  test('an elicited answer decides no gate [C18]', async () => {
    const bed = await makeTestBed({ 'gated.workflow.yaml': GATED });
    const { call } = await connect(bed.parts(), {
      era,
      elicit: () => ({ action: 'accept', content: { answer_1: 'Approve' } }),
    });
    const { session_id = '' } = await call('start_workflow', { workflow_type: 'gated' });
    await call('complete_phase', { session_id, phase: 'BUILD', evidence: {} });

    const asked = await call('ask_human', {
      session_id,
      questions: [{ text: 'Ship it?', options: ['Approve', 'Reject'] }],
    });

    expect(asked).toMatchObject({ error: 'run_waiting', status: 'waiting' });
    expect(await call('get_workflow_state', { session_id })).toMatchObject({
      status: 'waiting',
      current_phase: 'BUILD',
      completed_phases: [],
      gate: { prompt: 'Ship it?' },
    });
  });
});

test('answers to a form nobody was shown are not taken', async () => {
  const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
  const { client, call } = await connect(bed.parts(), {
    era: 'modern',
    elicit: () => ({ action: 'cancel' }),
  });
  const { session_id = '' } = await call('start_workflow', { workflow_type: 'errand' });

  const forged = { answers: { action: 'accept', content: { answer_1: 'North', answer_2: 'Run' } } };
  const { structuredContent } = await client.request({
    method: 'tools/call',
    params: { name: 'ask_human', arguments: { session_id, questions }, inputResponses: forged },
  });

  expect(structuredContent).toMatchObject({ status: 'active' });
  expect((structuredContent as JsonObject).answers).toBeUndefined();
});

test.each([
  ['none', []],
  ['four', [...questions, ...questions]],
  ['one with a single option', [{ text: 'Sure?', options: ['yes'] }]],
  ['one without text', [{ text: ' ', options: ['yes', 'no'] }]],
])('%s is refused as questions', async (_name, wrong) => {
  const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
  const { call } = await connect(bed.parts(), { era: 'legacy' });
  const { session_id = '' } = await call('start_workflow', { workflow_type: 'errand' });

  expect(await call('ask_human', { session_id, questions: wrong })).toMatchObject({
    error: 'question_invalid',
    next_action: expect.stringContaining('get_task('),
  });
});

test('report_blocked hands the phase to a human, and needs a reason', async () => {
  const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
  const { call } = await connect(bed.parts(), { era: 'legacy' });
  const { session_id = '' } = await call('start_workflow', { workflow_type: 'errand' });

  expect(await call('report_blocked', { session_id })).toMatchObject({ error: 'reason_required' });
  expect(await call('report_blocked', { session_id, reason: 'the town is gone' })).toMatchObject({
    status: 'escalated',
    current_phase: 'LOOK',
    escalation: { reason: 'blocked', message: 'the town is gone' },
    next_action: expect.stringContaining(`phasegate resume ${session_id}`),
  });
});

function waitingFor(session_id: string): object {
  return {
    session_id,
    status: 'waiting',
    questions,
    next_action: expect.stringContaining(`phasegate answer ${session_id} --question N --option LABEL`),
  };
}

import { describe, expect, test } from 'vitest';
import { ADA, AGENT, complete, NOW, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import type { Run } from './run.ts';

describe('asking and being blocked', () => {
  const ask = {
    kind: 'ask',
    questions: [
      { text: 'Which?', options: ['a', 'b'] },
      { text: 'How?', options: ['c', 'd'] },
    ],
  } as const;

  test('a question makes the run wait until a human has answered all [S4.53]', () => {
    const run = submit(started(workflowOf(phases(1))), ask).run;

    const one = submit(run, { kind: 'answer', question: 1, text: 'a' }, { principal: ADA }).run;
    const two = submit(one, { kind: 'answer', question: 2, text: 'd' }, { principal: ADA }).run;

    expect([run.status, one.status, two.status]).toEqual(['waiting', 'waiting', 'active']);
    expect(two.work.answers.map((answer) => answer.text)).toEqual(['a', 'd']);
    expect(code(submit(run, complete(run)))).toBe('run_waiting');
  });

  test('an agent cannot answer its own question [C18 adv.J1]', () => {
    const run = submit(started(workflowOf(phases(1))), ask).run;

    expect(code(submit(run, { kind: 'answer', question: 1, text: 'a' }))).toBe('not_a_human');
  });

  test('malformed questions are refused', () => {
    const run = started(workflowOf(phases(1)));

    expect(code(submit(run, { kind: 'ask', questions: [] }))).toBe('question_invalid');
    expect(code(submit(run, { kind: 'ask', questions: [{ text: 'Which?', options: ['a'] }] }))).toBe(
      'question_invalid',
    );
    expect(code(submit(run, { kind: 'ask', questions: [{ text: 'Which?', options: ['a', 'a'] }] }))).toBe(
      'question_invalid',
    );
  });

  test('an agent that cannot have the evidence hands the phase to a human, who may resume it [adv.I12]', () => {
    const blocked = submit(started(workflowOf(phases(1))), {
      kind: 'report_blocked',
      reason: 'no network',
    }).run;

    const resumed = submit(blocked, { kind: 'resume', note: 'use the cache' }, { principal: ADA }).run;

    expect(blocked).toMatchObject({
      status: 'escalated',
      escalation: { reason: 'blocked', message: 'no network' },
    });
    expect(resumed).toMatchObject({ status: 'active', work: { attempts: 0, note: 'use the cache' } });
  });

  test('an agent can neither resume nor stop a run [C18 adv.H1 adv.H3]', () => {
    const blocked = submit(started(workflowOf(phases(1))), { kind: 'report_blocked', reason: 'x' }).run;

    expect(code(submit(blocked, { kind: 'resume' }))).toBe('not_a_human');
    expect(code(submit(blocked, { kind: 'stop', reason: 'enough' }))).toBe('not_a_human');
    expect(
      code(submit(blocked, { kind: 'escalate', reason: 'blocked', message: 'x' }, { principal: AGENT })),
    ).toBe('run_not_active');
  });

  test('a human stops a run with a reason; a stopped run does nothing more', () => {
    const run = started(workflowOf(phases(2)));

    const stopped: Run = submit(run, { kind: 'stop', reason: 'obsolete' }, { principal: ADA, now: NOW }).run;

    expect(stopped).toMatchObject({ status: 'stopped', reason: 'obsolete', stoppedIn: 1 });
    expect(code(submit(stopped, { kind: 'stop', reason: 'again' }, { principal: ADA }))).toBe('run_ended');
    expect(code(submit(run, { kind: 'stop', reason: ' ' }, { principal: ADA }))).toBe('reason_required');
  });
});

function code(decision: ReturnType<typeof submit>): string {
  return decision.verdict.allowed ? 'allowed' : decision.verdict.blockers[0].code;
}

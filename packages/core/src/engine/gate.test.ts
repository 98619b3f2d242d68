import { describe, expect, test } from 'vitest';
import type { Command } from './command.ts';
import { answerFor } from './fixtures/answerFor.ts';
import { ADA, complete, phases, result, started, submit, workflowOf } from './fixtures/walks.ts';
import { gateCard } from './gateCard.ts';
import { phaseText } from './phaseText.ts';
import type { Run } from './run.ts';

const options = [
  { label: 'Approve' },
  { label: 'More', next: 1, requiresInput: true },
  { label: 'Reject', next: null },
] as const;
const human = { prompt: 'Ship it?', context: ['metrics.delta', 'nothing.here'], options };
/** On to the phase's own next, or to the third. */
const OPEN = [{ label: 'Approve' }, { label: 'Skip ahead', next: 3, approves: false }] as const;
const GRACE = { kind: 'human', name: 'grace' } as const;

function waiting(change: Partial<typeof human> & Record<string, unknown> = {}): Run {
  const run = started(
    workflowOf(
      phases(3, (index) => (index === 1 ? { gates: [{ id: 'ship', human: { ...human, ...change } }] } : {})),
    ),
  );
  const second = submit(run, complete(run, { metrics: { delta: 3 } })).run;
  return submit(second, complete(second, { report: 'fine' })).run;
}

function choose(option: string, more: Partial<Extract<Command, { kind: 'decide' }>> = {}): Command {
  return { kind: 'decide', gate: 'ship#1', option, shown: 'seen', signature: 's', ...more };
}

const asAda = { principal: ADA, shown: 'seen' };

describe('a human gate', () => {
  test('makes the run wait after all checks, and shows nothing of the next phase [S3.37 C12]', () => {
    const run = started(workflowOf(phases(2, (index) => (index === 0 ? { gates: [{ human }] } : {}))));
    const command = complete(run);

    const decision = submit(run, command);
    const answer = answerFor(run, command, decision);

    expect(decision.run).toMatchObject({ status: 'waiting', phase: 1 });
    expect(answer).toMatchObject({
      checkpoint_passed: true,
      status: 'waiting',
      gate: { prompt: 'Ship it?' },
    });
    expect(JSON.stringify(answer)).not.toContain('SECRET-OF-2');
    expect(submit(run, command, { answer: () => result('failed') }).run.status).toBe('waiting');
  });

  test.each([
    ['on', phases(2, () => ({ gates: [{ human }] })), 'the next phase'],
    ['nowhere', phases(1, () => ({ gates: [{ human }] })), 'the run is complete'],
  ] as const)('of a phase that leads %s says so to the agent', (_, drafts, what) => {
    const workflow = workflowOf(drafts);

    expect(phaseText(workflow, workflow.phases[0] as never)).toContain(`A human decides before ${what}.`);
  });

  test('is not waited for by an agent that expects to go where no option leads', () => {
    const run = started(
      workflowOf(
        phases(4, (index) => (index === 0 ? { gates: [{ human: { ...human, options: OPEN } }] } : {})),
      ),
    );

    for (const target of [4, 'nowhere', null]) {
      expect(submit(run, complete(run, {}, { target }))).toMatchObject({
        verdict: { allowed: false, blockers: [{ code: 'not_the_next_phase' }] },
        run: { status: 'active', work: { attempts: 0 } },
      });
    }
    for (const target of [2, 3]) {
      expect(submit(run, complete(run, {}, { target })).run.status).toBe('waiting');
    }
  });

  test('leads where the chosen option says [S3.17 S3.18 S3.63 S3.64]', () => {
    expect(submit(waiting(), choose('Approve'), asAda).run).toMatchObject({ status: 'active', phase: 3 });
    expect(submit(waiting(), choose('More', { input: 'shorter' }), asAda).run).toMatchObject({
      status: 'active',
      phase: 1,
    });
  });

  test('a rejection ends the run as stopped, not as completed [fail.15]', () => {
    expect(submit(waiting(), choose('Reject'), asAda).run).toMatchObject({
      status: 'stopped',
      reason: '`Reject` was chosen',
    });
  });

  test('a text the option requires must be given, and reaches the agent [S3.18]', () => {
    expect(code(submit(waiting(), choose('More'), asAda))).toBe('input_required');
    expect(code(submit(waiting(), choose('More', { input: '  ' }), asAda))).toBe('input_required');
    expect(submit(waiting(), choose('More', { input: 'shorter' }), asAda).run.work.note).toContain('shorter');
  });

  test('is not decided by an agent, whatever it sends [C18 adv.H1 adv.J1 adv.J2]', () => {
    const decision = submit(waiting(), choose('Approve'), { shown: 'seen' });

    expect(code(decision)).toBe('not_a_human');
    expect(decision.run.status).toBe('waiting');
  });

  test('binds the decision to what was shown [adv.J6]', () => {
    expect(code(submit(waiting(), choose('Approve'), { principal: ADA, shown: 'other now' }))).toBe(
      'shown_changed',
    );
    expect(code(submit(waiting(), choose('Approve'), { principal: ADA }))).toBe('shown_changed');
  });

  test('a decision serves one gate once [adv.J5 adv.J11]', () => {
    const approved = submit(waiting(), choose('Approve'), asAda).run;

    expect(code(submit(approved, choose('Approve'), asAda))).toBe('run_not_waiting');
    expect(code(submit(waiting(), choose('Approve', { gate: 'ship#9' }), asAda))).toBe('gate_unknown');
    expect(code(submit(waiting(), choose('Perhaps'), asAda))).toBe('option_unknown');
  });

  test('only approvers decide, and a quorum needs different humans', () => {
    const run = waiting({ approvers: ['ada', 'grace'], quorum: 2 });

    const once = submit(run, choose('Approve'), asAda).run;

    expect(once.status).toBe('waiting');
    expect(code(submit(once, choose('Approve'), asAda))).toBe('already_voted');
    expect(
      code(submit(run, choose('Approve'), { principal: { kind: 'human', name: 'eve' }, shown: 'seen' })),
    ).toBe('not_an_approver');
    expect(submit(once, choose('Approve'), { principal: GRACE, shown: 'seen' }).run.phase).toBe(3);
  });

  test('whose time is up is parked or stopped, never approved [adv.J8 adv.J9]', () => {
    const late = { principal: ADA, shown: 'seen', now: '2026-11-16T12:00:00.000Z' };
    const parked = submit(waiting({ timeout: { after: '24h' } }), choose('Approve'), late);
    const stopped = submit(waiting({ timeout: { after: '24h', then: 'stop' } }), { kind: 'expire' }, late);
    const early = submit(waiting({ timeout: { after: '25h' } }), choose('Approve'), late);

    expect(code(parked)).toBe('gate_timed_out');
    expect(parked.run).toMatchObject({ status: 'escalated', escalation: { reason: 'gate_timed_out' } });
    expect(stopped.run).toMatchObject({ status: 'stopped' });
    expect(early.run.phase).toBe(3);
  });

  test('shows its context by dotted path, and null for what is not there [S3.62]', () => {
    expect(gateCard(waiting())).toMatchObject({
      gate: 'ship#1',
      context: { 'metrics.delta': 3, 'nothing.here': null },
      evidence: { report: 'fine' },
      options: [
        { label: 'Approve', leads_to: 'next' },
        { label: 'More', leads_to: 1 },
        { label: 'Reject', leads_to: 'stop' },
      ],
    });
  });

  test('a chosen target whose precondition fails leaves the run waiting [adv.J7 adv.K4]', () => {
    const run = started(
      workflowOf(
        phases(2, (index) =>
          index === 0 ? { gates: [{ id: 'ship', human }] } : { preconditions: [{ check: 'asked' }] },
        ),
      ),
    );
    const wait = submit(run, complete(run)).run;

    const decision = submit(wait, choose('Approve', { gate: 'ship#1' }), {
      ...asAda,
      answer: () => result('failed'),
    });

    expect(code(decision)).toBe('precondition_failed');
    expect(decision.run).toEqual(wait);
  });
});

function code(decision: ReturnType<typeof submit>): string {
  return decision.verdict.allowed ? 'allowed' : decision.verdict.blockers[0].code;
}

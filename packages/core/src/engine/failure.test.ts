import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import type { Command } from './command.ts';
import type { Decision } from './decide.ts';
import { answerFor } from './fixtures/answerFor.ts';
import { anyActs, anyWorkflow } from './fixtures/arbitraries.ts';
import { anySharedWorkflow, anySharing } from './fixtures/handovers.ts';
import { ADA, AGENT, BOB, complete, phases, result, started, submit, workflowOf } from './fixtures/walks.ts';
import { phaseText } from './phaseText.ts';
import type { Run } from './run.ts';
import { viewFor } from './viewFor.ts';

describe('work that failed', () => {
  test('is tried once more with the reason, and then handed to a human [S3.5 S3.40 S3.41 S3.42 S3.43 C15]', () => {
    const run = started(workflowOf(phases(2)));

    const first = submit(run, failure(run, 'exit code 3'));
    const second = submit(first.run, failure(first.run, 'exit code 4'));

    expect(codes(first)).toEqual(['work_failed']);
    expect(first.run).toMatchObject({ status: 'active', phase: 1, work: { attempts: 1 } });
    expect(viewFor(first.run, AGENT).feedback).toBe('Previous attempt failed: exit code 3');
    expect(second.run).toMatchObject({
      status: 'escalated',
      phase: 1,
      escalation: { reason: 'attempts', blockers: [{ code: 'work_failed', message: 'exit code 4' }] },
    });
  });

  test('counts together with postconditions that fail [S3.5 S3.41]', () => {
    const run = started(workflowOf(phases(1, () => ({ postconditions: [{ check: 'asked' }] }))));

    const judged = submit(run, complete(run), { answer: () => result('failed', 'no') }).run;
    const failed = submit(judged, failure(judged, 'gone')).run;

    expect([judged.work.attempts, failed.work.attempts, failed.status]).toEqual([1, 2, 'escalated']);
  });

  test('a second attempt that succeeds goes on as if nothing had been [S3.43]', () => {
    const run = started(workflowOf(phases(2)));
    const failed = submit(run, failure(run, 'gone')).run;

    const done = submit(failed, complete(failed)).run;

    expect(done).toMatchObject({ status: 'active', phase: 2, work: { attempts: 0, failure: null } });
  });

  test('a human lets it be tried again from the start, with what failed last still known', () => {
    const run = twice(started(workflowOf(phases(1))));

    const resumed = submit(run, { kind: 'resume', note: 'the disk was full' }, { principal: ADA }).run;

    expect(resumed).toMatchObject({ status: 'active', work: { attempts: 0, failure: 'gone' } });
    expect(
      phaseText(resumed.workflow, resumed.workflow.phases[0] as never, { work: resumed.work }),
    ).toContain('Previous attempt failed: gone\n\nFrom a human: the disk was full');
  });

  test('is refused without a reason, for another phase, from anyone else and after the end', () => {
    const run = started(workflowOf(phases(2)));
    const second = submit(run, complete(run)).run;
    const ended = submit(second, complete(second)).run;

    expect(codes(submit(run, failure(run, '  ')))).toEqual(['reason_required']);
    expect(codes(submit(run, { ...failure(run, 'x'), phase: 2 }))).toEqual(['phase_sequence_violation']);
    expect(codes(submit(run, failure(run, 'x'), { principal: BOB }))).toEqual(['not_your_run']);
    expect(codes(submit(run, failure(run, 'x'), { principal: ADA }))).toEqual(['not_an_agent']);
    expect(codes(submit(run, { ...failure(run, 'x'), item: 'a' }))).toEqual(['item_unknown']);
    expect(codes(submit(ended, failure(run, 'x')))).toEqual(['run_ended']);
    for (const refused of [submit(run, failure(run, '  ')), submit(run, { ...failure(run, 'x'), phase: 2 })])
      expect(refused.run.work.attempts).toBe(0);
  });

  test('reported late, of a phase already left, changes nothing', () => {
    const run = started(workflowOf(phases(2)));
    const second = submit(run, complete(run)).run;

    const late = submit(second, failure(run, 'x'));

    expect(codes(late)).toEqual(['phase_sequence_violation']);
    expect(late.run).toEqual(second);
  });

  test('is answered in the words of the contract, with the one legal thing to do next', () => {
    const run = started(workflowOf(phases(1)));
    const command = failure(run, 'exit code 3');

    expect(answerFor(run, command, submit(run, command))).toEqual({
      ok: false,
      error: 'work_failed',
      message: 'exit code 3',
      status: 'active',
      current_phase: 1,
      next_action: 'complete phase `1`',
      blockers: [{ code: 'work_failed', message: 'exit code 3', next_action: 'complete phase `1`' }],
    });
  });

  test('blocks in permissive mode too: there is nothing to let pass', () => {
    const run = started(workflowOf(phases(2), { enforcement: { mode: 'permissive' } }));

    expect(submit(run, failure(run, 'x')).run).toMatchObject({ phase: 1, work: { attempts: 1 } });
  });
});

describe('an item that failed', () => {
  const workflow = workflowOf([{ id: 'writer', parallel: { key: 'areas' } }, { id: 'review' }], {
    params: { areas: { type: 'list' } },
  });
  const run = started(workflow, { areas: ['a', 'b'] });
  const fail = (now: Run, item: string, reason = 'gone') =>
    submit(now, { ...failure(now, reason), item }).run;

  test('is tried again alone, and the others go on [S3.51 S3.53]', () => {
    const failed = fail(run, 'a');
    const done = submit(submit(failed, complete(failed, {}, { item: 'b' })).run, {
      ...complete(failed, {}),
      item: 'a',
    } as Command).run;

    expect(failed.work).toMatchObject({
      attempts: 0,
      items: { a: { status: 'pending', attempts: 1, error: 'gone' }, b: { status: 'pending', attempts: 0 } },
    });
    expect(done.phase).toBe('review');
  });

  test('twice is failed, and a human is called once nothing else is open [S3.46 S3.54]', () => {
    const failed = fail(fail(run, 'a'), 'a', 'gone again');
    const stuck = submit(failed, complete(failed, {}, { item: 'b' })).run;
    const resumed = submit(stuck, { kind: 'resume' }, { principal: ADA }).run;

    expect(failed).toMatchObject({ status: 'active', work: { items: { a: { status: 'failed' } } } });
    expect(stuck).toMatchObject({ status: 'escalated', phase: 'writer', escalation: { reason: 'attempts' } });
    expect(stuck.status === 'escalated' && stuck.escalation.blockers[0]?.message).toBe(
      'item `a`: gone again',
    );
    expect(resumed.work.items).toMatchObject({
      a: { status: 'pending', attempts: 0, error: 'gone again' },
      b: { status: 'completed' },
    });
  });

  test('is named: the phase itself cannot fail while its items are open', () => {
    expect(codes(submit(run, failure(run, 'x')))).toEqual(['item_required']);
    const done = submit(run, complete(run, {}, { item: 'a' })).run;
    expect(codes(submit(done, { ...failure(done, 'x'), item: 'a' }))).toEqual(['item_done']);
  });

  test('is reported by the one who holds it, and by nobody else', () => {
    const claimed = submit(run, { kind: 'claim', item: 'a' }, { principal: BOB }).run;
    const about = { ...failure(claimed, 'gone'), item: 'a' };

    expect(codes(submit(claimed, about))).toEqual(['item_held']);
    expect(codes(submit(claimed, { ...about, item: 'b' }, { principal: BOB }))).toEqual(['not_your_run']);
    expect(submit(claimed, about, { principal: BOB }).run.work.items?.a?.attempts).toBe(1);
  });
});

describe('for any workflow and any sequence of commands', () => {
  const NEVER = [
    'phase_completed',
    'item_completed',
    'gate_opened',
    'run_claimed',
    'run_resumed',
    'run_stopped',
  ];

  test('a reported failure never advances a run, and never passes [S3.41 fail.15]', () => {
    fc.assert(
      fc.property(anyWorkflow, anyActs, (workflow, acts) => {
        let run = started(workflow);
        for (const { principal, make } of acts) {
          const command = make(run);
          const decision = submit(run, command, { principal, shown: 'seen' });
          if (command.kind === 'report_failure') expectStill(run, decision);
          run = decision.run;
        }
      }),
      { numRuns: cases({ quick: 300, full: 7500 }) },
    );
  });

  test('nor where many agents share it [S3.54]', () => {
    fc.assert(
      fc.property(anySharedWorkflow, anySharing, (workflow, turns) => {
        let run = started(workflow, { areas: ['a', 'b'] });
        for (const { principal, make } of turns) {
          const command = make(run);
          const decision = submit(run, command, { principal: principal(run), shown: 'seen' });
          if (command.kind === 'report_failure') expectStill(run, decision);
          run = decision.run;
        }
      }),
      { numRuns: cases({ quick: 200, full: 5000 }) },
    );
  });

  function expectStill(before: Run, { run, verdict, events }: Decision): void {
    expect(verdict.allowed).toBe(false);
    expect([run.phase, run.epoch, run.completions]).toEqual([before.phase, before.epoch, before.completions]);
    expect(events.filter((event) => NEVER.includes(event.type))).toEqual([]);
    expect(['completed', 'stopped']).not.toContain(run.status === before.status ? '' : run.status);
    // No failure is forgotten: two in a row are a human's business.
    expect(run.work.attempts).toBeLessThanOrEqual(2);
    if (run.work.attempts === 2 && before.work.attempts < 2) expect(run.status).toBe('escalated');
  }
});

function failure(run: Run, reason: string) {
  return { kind: 'report_failure', phase: run.phase ?? 1, reason } as const;
}

function twice(run: Run): Run {
  const once = submit(run, failure(run, 'gone')).run;
  return submit(once, failure(once, 'gone')).run;
}

function codes({ verdict }: Decision): readonly string[] {
  return verdict.allowed ? [] : verdict.blockers.map((blocker) => blocker.code);
}

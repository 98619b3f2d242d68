import { describe, expect, test } from 'vitest';
import type { PhaseDraft } from '../model/draft.ts';
import { answerFor } from './fixtures/answerFor.ts';
import { ADA, complete, phases, result, started, submit, workflowOf } from './fixtures/walks.ts';
import { gateCard } from './gateCard.ts';

const long = { check: 'asked', message: 'the file is long', severity: 'warning' } as const;
const told = [{ code: 'check_failed', message: 'the file is long (601 lines)' }];
const failing = { answer: () => result('failed', '601 lines') };
const human = { prompt: 'ok?', options: [{ label: 'Yes' }] };

const first = (draft: Partial<PhaseDraft>) =>
  started(workflowOf(phases(2, (index) => (index === 0 ? draft : {}))));

describe('a check of severity `warning` that does not hold', () => {
  test.each([
    ['postcondition', { postconditions: [long] }],
    ['blocker', { gates: [{ blockers: [long] }] }],
  ])('as a %s is asked, told and recorded, and refuses nothing [C32]', (_, draft) => {
    const run = first(draft);
    const command = complete(run);

    const decision = submit(run, command, failing);

    expect(decision.verdict).toEqual({ allowed: true, warnings: told });
    expect(decision.run).toMatchObject({ phase: 2, completions: [{ warnings: told }] });
    expect(decision.events).toMatchObject([{ type: 'phase_completed', warnings: told }]);
    expect(answerFor(run, command, decision)).toMatchObject({ checkpoint_passed: true, warnings: told });
  });

  test.each(['errored', 'timed_out'] as const)('that %s is told as well [C32]', (status) => {
    const run = first({ postconditions: [long] });

    const { verdict } = submit(run, complete(run), { answer: () => result(status, 'no answer') });

    expect(verdict).toMatchObject({ allowed: true, warnings: [{ code: `check_${status}` }] });
  });

  test('as a precondition is told by the one who enters, with the words of a precondition [C32]', () => {
    const run = started(workflowOf(phases(2, (index) => (index === 1 ? { preconditions: [long] } : {}))));

    const { verdict, run: after } = submit(run, complete(run), failing);

    expect(after.phase).toBe(2);
    expect(verdict).toEqual({
      allowed: true,
      warnings: [{ code: 'precondition_failed', message: 'the file is long (601 lines)' }],
    });
  });

  test('stands on the card of the human, and in the record of the completion [C32]', () => {
    const run = first({ gates: [{ human, blockers: [long] }] });

    const opened = submit(run, complete(run), failing);

    expect(opened.events).toMatchObject([{ type: 'gate_opened', wait: { warnings: told } }]);
    const card = gateCard(opened.run);
    expect(card).toMatchObject({ warnings: told });
    const gate = String(card?.gate);
    const { run: after } = submit(
      opened.run,
      { kind: 'decide', gate, option: 'Yes', shown: 's', signature: 'x' },
      { principal: ADA, shown: 's' },
    );
    expect(after).toMatchObject({ phase: 2, completions: [{ warnings: told }] });
  });

  test('is not an attempt, and does not save a phase whose other check failed [C32]', () => {
    const run = first({ postconditions: [long, { check: 'asked', message: 'the tests fail' }] });

    const refusal = submit(run, complete(run), failing);

    expect(refusal.verdict).toMatchObject({
      allowed: false,
      blockers: [{ message: 'the tests fail (601 lines)' }],
    });
    const alone = first({ postconditions: [long] });
    expect(submit(alone, complete(alone), failing).run.work.attempts).toBe(0);
  });

  test('of every item stands at the join, not only of the last one [C32]', () => {
    const run = started(
      workflowOf(
        phases(2, (index) =>
          index === 0
            ? { parallel: { key: 'areas' }, postconditions: [long], gates: [{ human, blockers: [long] }] }
            : {},
        ),
        { params: { areas: { type: 'list' } } },
      ),
      { areas: ['a', 'b'] },
    );

    const one = submit(run, complete(run, {}, { item: 'a' }), failing);
    expect(one.verdict).toEqual({ allowed: true, warnings: told });
    const { run: after } = submit(one.run, complete(run, {}, { item: 'b' }), failing);

    expect(gateCard(after)?.warnings).toEqual([
      { phase: 1, code: 'check_failed', message: 'item `a`: the file is long (601 lines)' },
      { phase: 1, code: 'check_failed', message: 'item `b`: the file is long (601 lines)' },
      ...told.map((one) => ({ phase: 1, ...one })),
    ]);
  });
});

test('where everything holds, nothing about warnings is written: old hashes stay', () => {
  const run = first({
    gates: [{ human, blockers: [long] }],
    postconditions: [{ ...long, severity: 'error' }],
  });

  const { run: waiting, events, verdict } = submit(run, complete(run));

  expect(verdict).toEqual({ allowed: true });
  expect(JSON.stringify([waiting.status, events, gateCard(waiting)])).not.toContain('warnings');
  expect(waiting.workflow.phases[0]?.postconditions[0]).not.toHaveProperty('severity');
});

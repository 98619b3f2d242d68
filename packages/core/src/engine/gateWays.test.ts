import { describe, expect, test } from 'vitest';
import { defineWorkflow } from '../model/defineWorkflow.ts';
import type { PhaseDraft } from '../model/draft.ts';
import { evaluate, parseExpression } from '../model/expression/expression.ts';
import type { Workflow } from '../model/workflow.ts';
import type { Look } from './command.ts';
import { ADA, complete, result, started, submit } from './fixtures/walks.ts';

const checks = {
  expression: {
    parameters: { type: 'object' },
    class: 'claimed' as const,
    conditions: ['condition'],
    reads: 'subject' as const,
  },
  command: { parameters: { type: 'object' }, class: 'verified' as const, reads: 'workspace' as const },
};

const READY = { check: 'expression', with: { condition: 'artifacts.plan.ready === true' } };

describe('a gate whose every yes would be refused by the next phase on evidence that cannot change', () => {
  test('does not open, and the agent is told what refuses it', () => {
    const run = started(gated([{ label: 'Approve' }], [READY]));

    const refused = submit(run, complete(run, { plan: { ready: false } }), { answer });

    expect(refused.verdict).toMatchObject({ allowed: false, blockers: [{ code: 'precondition_failed' }] });
    expect(refused.run).toMatchObject({ status: 'active', work: { attempts: 0 } });
    expect(submit(run, complete(run, { plan: { ready: true } }), { answer }).run.status).toBe('waiting');
  });

  test('opens where one of the choices that approve would do', () => {
    const options = [{ label: 'Approve' }, { label: 'Publish', next: 'C', approves: true }];
    const run = started(gated(options, [READY]));

    expect(submit(run, complete(run, { plan: { ready: false } }), { answer }).run.status).toBe('waiting');
  });

  test('does not open for a human to have the same phase done again, which its agent can do at once', () => {
    const run = started(gated([{ label: 'Approve' }, { label: 'Again', next: 'A' }], [READY]));

    expect(submit(run, complete(run, { plan: { ready: false } }), { answer }).run.status).toBe('active');
  });

  test('opens where a human can send the work to another phase', () => {
    const run = started(
      workflowOf([
        { id: 'PLAN', artifacts: [{ type: 'plan' }] },
        {
          id: 'A',
          gates: [
            { human: { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'Plan', next: 'PLAN' }] } },
          ],
        },
        { id: 'B', preconditions: [READY] },
      ]),
    );
    const planned = submit(run, complete(run, { plan: { ready: false } }), { answer }).run;

    expect(submit(planned, complete(planned), { answer }).run.status).toBe('waiting');
  });

  test('is judged on the run as it would be, with what the human approves', () => {
    const check = { check: 'expression', with: { condition: 'approved.plan.ready === true' } };
    const run = started(gated([{ label: 'Approve' }], [check]));

    const waiting = submit(run, complete(run, { plan: { ready: true } }), { answer }).run;
    expect(waiting.status).toBe('waiting');
    const decide = { kind: 'decide', gate: 'A#1', option: 'Approve', shown: 's', signature: '' } as const;
    expect(submit(waiting, decide, { principal: ADA, shown: 's', answer }).run.phase).toBe('B');
  });

  test("opens where the world may still change, or the human's own choice is asked about", () => {
    const command = { check: 'command', with: { argv: ['true'] } };
    const chosen = { check: 'expression', with: { condition: "checkpoint.gateDecision.input === 'yes'" } };

    for (const check of [command, chosen]) {
      const run = started(gated([{ label: 'Approve' }], [check]));
      expect(
        submit(run, complete(run, { plan: { ready: true } }), { answer: () => result('failed') }).run.status,
      ).toBe('waiting');
    }
  });

  test('opens in permissive mode, which blocks nothing', () => {
    const run = started(gated([{ label: 'Approve' }], [READY], 'permissive'));

    expect(submit(run, complete(run, { plan: { ready: false } }), { answer }).run.status).toBe('waiting');
  });

  test('does not open where the way on cannot be told either', () => {
    const run = started(
      workflowOf([
        {
          id: 'A',
          artifacts: [{ type: 'plan' }],
          gates: [{ human: { prompt: 'Good?', options: [{ label: 'Approve' }] } }],
          next: { condition: 'plan.size > 3', onTrue: 'B', onFalse: null },
        },
        { id: 'B' },
      ]),
    );

    const { verdict } = submit(run, complete(run, { plan: { ready: true } }), { answer });
    expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'condition_unanswerable' }] });
  });
});

function gated(
  options: readonly { readonly label: string; readonly next?: string; readonly approves?: boolean }[],
  preconditions: NonNullable<PhaseDraft['preconditions']>,
  mode: 'strict' | 'permissive' = 'strict',
): Workflow {
  return workflowOf(
    [
      { id: 'A', artifacts: [{ type: 'plan' }], gates: [{ human: { prompt: 'Good?', options } }] },
      { id: 'B', preconditions },
      { id: 'C' },
    ],
    mode,
  );
}

function workflowOf(phases: readonly PhaseDraft[], mode: 'strict' | 'permissive' = 'strict'): Workflow {
  const defined = defineWorkflow({ id: 'w', phases, enforcement: { mode } }, { checks });
  if (!defined.ok) throw new Error(JSON.stringify(defined.problems));
  return defined.workflow;
}

/** Answers conditions as the runtime does. */
function answer(look: Look) {
  if (look.kind !== 'check') throw new TypeError('only checks are asked here');
  const parsed = parseExpression(String(look.check.with.condition));
  const answered = parsed.ok ? evaluate(parsed.expression, look.subject.scope) : { ok: false as const };
  return result(answered.ok && answered.value ? 'passed' : 'failed');
}

import { expect, test } from 'vitest';
import { started, workflowOf } from './fixtures/walks.ts';
import { QUESTION_RELAY_HANDLER, SUB_AGENT_QUESTION_FORMAT } from './questionRelay.ts';
import { stepInputFor } from './stepInput.ts';
import { phaseAnswer } from './viewFor.ts';

test('anyone who has a step done by a sub-agent that may ask is told how to pass questions on [S4.56 S4.57]', () => {
  const text = (supportsQuestions?: boolean) => {
    const asking = supportsQuestions === undefined ? {} : { supportsQuestions };
    const work = { kind: 'dispatch', agent: 'architect', prompt: 'Plan it', ...asking } as const;
    const answer = phaseAnswer(started(workflowOf([{ id: 'plan', instructions: 'Plan', work }])), undefined);
    return answer.ok ? answer.phase.content : '';
  };

  expect(text(true)).toContain(QUESTION_RELAY_HANDLER);
  expect(text(false)).not.toContain('needs_user_input');
  expect(text()).not.toContain('needs_user_input');
  // How to ask is for the sub-agent's own ears.
  expect(text(true)).not.toContain(SUB_AGENT_QUESTION_FORMAT);
});

test('what a sub-agent is given is not what its caller is told [S4.57]', () => {
  const work = { kind: 'dispatch', agent: 'architect', supportsQuestions: true } as const;
  const run = started(workflowOf([{ id: 'plan', instructions: 'Plan', work }]));

  expect(run.workflow.phases[0]?.instructions).toBe('Plan');
  expect(JSON.stringify(stepInputFor(run))).not.toContain('needs_user_input');
});

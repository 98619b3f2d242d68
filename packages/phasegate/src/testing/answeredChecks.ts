import { canonicalJson, type Workflow } from '@phasegate/core';
import type { Check } from '@phasegate/core/model';
import type { CheckAnswers, CheckImplementation, FunctionAnswer, Functions } from '../runtime/ports.ts';

/** Answers that may change from step to step, and what nobody answered. */
export interface Answering {
  answers: CheckAnswers;
  readonly real: boolean;
  /** Labels of checks that look at the world, were not answered, and so were not passed. */
  readonly unanswered: Set<string>;
}

/**
 * The shelf with answers in front of it. A check that judges only what was submitted is really asked; one that looks
 * at the world is asked only where that is wanted, and is otherwise failed: nothing passes because nobody looked.
 */
export function answeredChecks(
  shelf: readonly CheckImplementation[],
  workflow: Workflow,
  answering: Answering,
): readonly CheckImplementation[] {
  const checks = checksOf(workflow);
  return shelf.map((implementation) => ({
    ...implementation,
    run: async (input) => {
      const asked = canonicalJson(input.with);
      const meant = checks.filter(
        (check) => check.use === implementation.name && canonicalJson(check.with) === asked,
      );
      const answer = answerTo(meant, answering.answers);
      if (answer !== undefined) return { passed: answer, reason: answer ? '' : 'the test says so' };
      if (implementation.class === 'claimed' || answering.real) return implementation.run(input);
      answering.unanswered.add(meant[0]?.label ?? implementation.name);
      return { passed: false, reason: 'nobody looked: the test has no answer for it' };
    },
  }));
}

/** The functions of a workflow with answers in front of those that are checks. */
export function answeredFunctions(functions: Functions, workflow: Workflow, answering: Answering): Functions {
  const checks = checksOf(workflow);
  return {
    call: async (call): Promise<FunctionAnswer> => {
      const meant = checks.filter((check) => check.use === 'function' && check.with.ref === call.ref);
      const answer = answerTo(meant, answering.answers);
      return answer === undefined ? functions.call(call) : { ok: true, value: answer };
    },
    // The host outlives one test: the one who opened it closes it.
    close: async () => undefined,
  };
}

function answerTo(meant: readonly Check[], answers: CheckAnswers): boolean | undefined {
  for (const { id, label } of meant) {
    for (const name of [id, label]) if (Object.hasOwn(answers, name)) return answers[name] === 'pass';
  }
  return undefined;
}

function checksOf(workflow: Workflow): readonly Check[] {
  return workflow.phases.flatMap(({ preconditions, postconditions, blockers }) => [
    ...preconditions,
    ...postconditions,
    ...blockers,
  ]);
}

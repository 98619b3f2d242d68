import { own, type PhaseId, type Subject } from '@phasegate/core';
import { whyContested } from '@phasegate/core/engine';
import { type Expression, evaluate, parseExpression, pathsOf } from '@phasegate/core/model';
import type { CheckImplementation } from '../runtime/ports.ts';
import { display, scopePath } from './scopePath.ts';

/** Asks a condition about the run. One without an answer throws, so that it never counts as true or false. */
export const expression: CheckImplementation = {
  name: 'expression',
  summary: 'a condition on the submitted result, earlier artifacts, params and state is true',
  class: 'claimed',
  reads: 'subject',
  conditions: ['condition'],
  parameters: {
    type: 'object',
    additionalProperties: false,
    required: ['condition'],
    properties: {
      condition: {
        type: 'string',
        minLength: 1,
        description: 'The condition, e.g. `result.metrics.delta >= checkpoint.threshold`',
      },
    },
  },
  async run({ with: { condition }, subject }) {
    if (typeof condition !== 'string') throw new TypeError('the check has no `condition`');
    const parsed = parseExpression(condition);
    if (!parsed.ok) throw new Error(`\`${condition}\` does not parse: ${parsed.error.message}`);
    const answer = evaluate(parsed.expression, subject.scope);
    if (!answer.ok) {
      const reasons = [answer.error.message, ...contestedIn(parsed.expression, subject)];
      throw new Error(`\`${condition}\` has no answer: ${reasons.join('; ')}`);
    }
    if (answer.value) return { passed: true, reason: `\`${condition}\` is true` };

    const values = new Map(
      pathsOf(parsed.expression).map(({ root, steps }) => {
        const path = [root, ...steps];
        return [path.join('.'), display(scopePath(subject.scope, path))];
      }),
    );
    const named = [...values].map(([path, value]) => `\`${path}\` is ${value}`);
    const because = named.length === 0 ? '' : `: ${named.join(', ')}`;
    return { passed: false, reason: `\`${condition}\` is false${because}` };
  },
};

function contestedIn(expression: Expression, { contested = {} }: Subject): readonly string[] {
  return pathsOf(expression).flatMap(({ root, steps: [name] }) => {
    if (root !== 'checkpoint' || typeof name !== 'string') return [];
    const steps = own(contested, name) as readonly PhaseId[] | undefined;
    return steps === undefined ? [] : [whyContested(name, steps)];
  });
}

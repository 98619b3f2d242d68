import { OUTCOMES } from '@phasegate/core';
import * as z from 'zod';
import { strictMap } from '../yaml/strictMap.ts';

const id = z.union([z.string().min(1), z.number().int().min(0)]);
const values = z.record(z.string(), z.unknown());
const answers = z.record(z.string(), z.enum(['pass', 'fail'])).optional();
const names = z.record(z.string(), z.array(z.string().min(1)).min(1));
const choice = {
  choose: z.string().min(1),
  input: z.string().optional(),
  as: z.string().min(1).optional(),
};

const expectation = strictMap(
  { description: 'What must be so.' },
  {
    allowed: z.boolean().optional(),
    code: z.string().min(1).optional(),
    phase: id.nullable().optional(),
    status: z.enum(['queued', 'active', 'waiting', 'escalated', 'completed', 'stopped']).optional(),
  },
).optional();

const step = strictMap(
  {
    description: 'Who does what.',
    some: ['agent', 'human', 'tool'],
    exclusive: pairs('agent', 'human', 'tool'),
  },
  {
    agent: strictMap(
      { description: 'Completes a phase.' },
      {
        complete: id,
        evidence: values.optional(),
        outcome: z.enum(OUTCOMES as readonly [string, ...string[]]).optional(),
        reason: z.string().optional(),
        item: z.string().optional(),
        reads_tasks: z.boolean().optional(),
      },
    ).optional(),
    human: strictMap(
      { description: 'Acts at a gate.', some: ['choose', 'resume'], exclusive: pairs('choose', 'resume') },
      { ...choice, choose: choice.choose.optional(), resume: z.string().optional() },
    ).optional(),
    tool: strictMap(
      { description: 'Asks for a tool.' },
      { tool: z.string().min(1), input: values.optional() },
    ).optional(),
    checks: answers,
    expect: expectation,
  },
);

const test = strictMap(
  {
    description: 'One test.',
    some: ['agent', 'steps'],
    exclusive: [...pairs('agent', 'steps'), ['agent', 'at']],
  },
  {
    name: z.string().min(1),
    params: values.optional(),
    target: z.string().optional(),
    checks: answers,
    real: z.boolean().optional(),
    agent: z.enum(['honest', 'forgetful', 'cheating']).optional(),
    choose: z
      .record(z.string(), z.union([z.string().min(1), strictMap({ description: 'A choice.' }, choice)]))
      .optional(),
    at: id.optional(),
    steps: z.array(step).min(1).optional(),
    expect: expectation,
  },
);

/** The shape of a file of contract tests. */
export const contractSchema: z.ZodType = strictMap(
  { description: 'Contract tests of a workflow.', needed: ['tests'] },
  {
    params: values.optional(),
    target: z.string().optional(),
    evidence: z.record(z.string(), values).optional(),
    checks: answers,
    real: z.boolean().optional(),
    domains: z
      .record(
        z.string(),
        strictMap(
          { description: 'Values to try.' },
          {
            choices: z.array(z.unknown()).min(1).optional(),
            min: z.number().int().optional(),
            max: z.number().int().optional(),
            constant: z.unknown().optional(),
          },
        ),
      )
      .optional(),
    skip: z.record(z.string(), z.string().min(1)).optional(),
    demands: strictMap(
      { description: 'What must hold whatever the workflow says.', some: ['gates', 'evidence', 'forbidden'] },
      { gates: z.array(id).min(1).optional(), evidence: names.optional(), forbidden: names.optional() },
    ).optional(),
    tests: z.array(test).min(1).optional(),
  },
);

function pairs(...keys: readonly string[]): readonly (readonly [string, string])[] {
  return keys.flatMap((key, index) => keys.slice(index + 1).map((other) => [key, other] as const));
}

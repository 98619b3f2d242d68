import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { complete, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import type { Run } from './run.ts';

const BEFORE = { type: 'object', properties: { id: { type: 'string', pattern: '^(?!x)\\w+$' } } };

/** A run as it was started when this pattern could still be used. */
function startedBefore(schema: JsonObject): Run {
  const artifacts = [{ type: 'plan', schema: { type: 'object' } }];
  const run = started(workflowOf(phases(2, (index) => (index === 0 ? { artifacts } : {}))));
  const [first, ...more] = run.workflow.phases;
  if (first === undefined) throw new Error('there is a first phase');
  const old = {
    ...first,
    evidence: { ...first.evidence, artifacts: [{ type: 'plan', description: '', schema }] },
  };
  return { ...run, workflow: { ...run.workflow, phases: [old, ...more] } };
}

test('a run started with a pattern that cannot be matched in bounded time is escalated when that phase is completed [adv.O3]', () => {
  const run = startedBefore(BEFORE);

  const { verdict, run: after } = submit(run, complete(run, { plan: { id: 'a' } }));

  expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'escalated' }] });
  expect(after).toMatchObject({
    status: 'escalated',
    phase: 1,
    escalation: {
      reason: 'definition_unusable',
      blockers: [
        {
          message: expect.stringContaining('the schema of `plan` has `^(?!x)\\w+$`, which cannot be matched'),
        },
      ],
    },
  });
});

test('a run whose patterns can be used goes on', () => {
  const run = startedBefore({ properties: { id: { pattern: '^\\w+$' } } });

  expect(submit(run, complete(run, { plan: { id: 'a' } })).run.phase).toBe(2);
});

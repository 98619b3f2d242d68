import { defineWorkflow as defineCore, OUTCOMES } from '@phasegate/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { complete, started, submit } from '../../core/src/engine/fixtures/walks.ts';
import { defineWorkflow, Outcome, StepDef, Workflow } from './index.ts';

const { DEFAULT, ...REPORTED } = Outcome;
const reported = Object.values(REPORTED);
const targets = ['left', 'right'] as const;

const nextMap = fc
  .dictionary(fc.constantFrom(...reported, DEFAULT), fc.constantFrom(...targets), { minKeys: 1 })
  .filter((map) => new Set(Object.values(map)).size === targets.length);

test('every way a step may go is one of five words, so all of them can be tried [S4.37]', () => {
  expect([...OUTCOMES].sort()).toEqual([...reported].sort());
  fc.assert(
    fc.property(nextMap, fc.constantFrom(...reported), (next, outcome) => {
      const run = started(compiled(branching(next)));

      const { verdict, run: after } = submit(run, complete(run), {
        answer: () => ({ ok: true, outcome, state: {} }),
      });

      const expected = next[outcome] ?? next[DEFAULT];
      expect(after.phase).toBe(expected ?? 'fork');
      expect(verdict.allowed).toBe(expected !== undefined);
    }),
    { numRuns: cases({ quick: 100, full: 2000 }) },
  );
});

test('both ways of writing a workflow lead to the same draft [S4.37]', () => {
  fc.assert(
    fc.property(nextMap, (next) => {
      const steps = [
        { name: 'fork', handler: () => [Outcome.OK, {}] as const, next },
        ...targets.map((name) => ({ name, next: { [Outcome.OK]: null } })),
      ];

      expect(defineWorkflow({ type: 'branching', steps } as never).draft.phases).toEqual(
        branching(next).draft.phases,
      );
    }),
    { numRuns: cases({ quick: 100, full: 2000 }) },
  );
});

function branching(next: Readonly<Record<string, string>>) {
  return Workflow(
    'branching',
    StepDef({ id: 'fork', handler: () => [Outcome.OK, {}], next }),
    ...targets.map((id) => StepDef({ id, next: { [Outcome.OK]: null } })),
  );
}

function compiled({ draft }: ReturnType<typeof branching>) {
  const defined = defineCore(draft, { checks: {} });
  if (!defined.ok) throw new Error(JSON.stringify(defined.problems));
  return defined.workflow;
}

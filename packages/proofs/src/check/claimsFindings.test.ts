import type { GateDraft, PhaseDraft } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { checkWorkflow } from './checkWorkflow.ts';
import { workflowOf } from './fixtures/flaws.ts';

const SAID = { check: 'review_is_complete' };
const SEEN = { check: 'command', with: { argv: ['true'] } };
const HUMAN: GateDraft = { human: { prompt: 'Good?', options: [{ label: 'Yes' }], required: false } };

test('a workflow that is walked on the word of an agent alone is named with the way, as a note', () => {
  const { clean, findings } = checkWorkflow(
    workflowOf([{ id: 'A' }, { id: 'B', gates: [{ blockers: [SAID] }] }]),
  );

  expect(clean).toBe(true);
  expect(findings).toEqual([
    {
      code: 'claims_alone',
      severity: 'note',
      message:
        "a run gets from start to end by phases `A`, `B` on the agent's word alone: a `command`, a `files` check or a human would see for themselves",
      phases: ['A', 'B'],
      trace: [],
    },
  ]);
});

test('of a long way the first ten phases are named, and how many more there are', () => {
  const { findings } = checkWorkflow(
    workflowOf(Array.from({ length: 30 }, (_, at) => ({ id: `P${at + 1}` }))),
  );

  expect(findings).toHaveLength(1);
  expect(findings[0]?.message).toContain('by phases `P1`, `P2`, `P3`');
  expect(findings[0]?.message).toContain("`P9`, `P10` and 20 more on the agent's word alone");
  expect(findings[0]?.phases).toHaveLength(30);
});

test.each<[string, Partial<PhaseDraft>]>([
  ['the engine looks at the end', { gates: [{ blockers: [SEEN] }] }],
  ['the engine looks after the work', { postconditions: [SEEN] }],
  ['the engine looks before the next phase', { preconditions: [SEEN] }],
  ['a human decides', { gates: [HUMAN] }],
  ['a program does the work', { work: { kind: 'command', command: 'npm test' } }],
])('it is not where %s', (_what, phase) => {
  expect(noted([{ id: 'A' }, { id: 'B', ...phase }])).toEqual([]);
});

test('what is looked at before any work, or only warns, says nothing about the work', () => {
  expect(noted([{ id: 'A', preconditions: [SEEN] }])).toEqual(['A']);
  expect(noted([{ id: 'A', postconditions: [{ ...SEEN, severity: 'warning' }] }])).toEqual(['A']);
});

test('a way around the phase that is looked at is enough', () => {
  const next = { condition: "size === 'small'", onTrue: null, onFalse: 'B' };

  expect(
    noted([
      { id: 'A', artifacts: [{ type: 'size' }], next },
      { id: 'B', gates: [HUMAN] },
    ]),
  ).toEqual(['A']);
});

test('gates that rest on the word of an agent alone are named where the way to the end has one that does not', () => {
  const { findings } = checkWorkflow(
    workflowOf([
      { id: 'A', gates: [{ blockers: [SAID] }] },
      { id: 'B', gates: [{ blockers: [SAID, SEEN] }] },
    ]),
  );

  expect(findings).toMatchObject([
    {
      code: 'claims_alone',
      severity: 'note',
      message: expect.stringMatching(/^the gate of phase `A` rests on /),
    },
  ]);
});

function noted(phases: readonly PhaseDraft[]): readonly unknown[] {
  const { findings } = checkWorkflow(workflowOf(phases));
  return findings.filter(({ code }) => code === 'claims_alone').flatMap((finding) => finding.phases);
}

import { describe, expect, test } from 'vitest';
import { defineWorkflow } from '../defineWorkflow.ts';
import type { CheckDraft, PhaseDraft } from '../draft.ts';

const known = {
  checks: {
    expression: { parameters: { type: 'object' }, class: 'claimed' as const, conditions: ['condition'] },
  },
};
const on = (condition: string): CheckDraft => ({ check: 'expression', with: { condition } });
const gate = (id: string, blockers: readonly CheckDraft[] = []) => ({
  id,
  blockers,
  human: { prompt: 'Ship it?', options: [{ label: 'Approve' }, { label: 'Drop', next: null }] },
});
const found = (phases: readonly PhaseDraft[]) => {
  const defined = defineWorkflow({ id: 'w', phases }, known);
  return defined.ok ? [] : defined.problems.map(({ path, code }) => `${path.join('.')} ${code}`);
};

describe('a condition on the decision of the gate behind its own phase', () => {
  test.each([
    'checkpoint.gateDecision.option === "Approve"',
    'result.sure === true || checkpoint.gateDecision.option === "Approve"',
    'checkpoint.decisions["ship"].option === "Approve"',
  ])('is a problem of the definition: %s', (condition) => {
    expect(found([{ id: 'A', postconditions: [on(condition)], gates: [gate('ship')] }])).toEqual([
      'phases.0.postconditions.0 unsatisfiable',
    ]);
    expect(found([{ id: 'A', gates: [gate('ship', [on(condition)])] }])).toEqual([
      'phases.0.gates unsatisfiable',
    ]);
  });

  test('is one beside other gates too, where it names its own', () => {
    const second = (condition: string): readonly PhaseDraft[] => [
      { id: 'A', gates: [gate('plan')] },
      { id: 'B', postconditions: [on(condition)], gates: [gate('ship')] },
    ];

    expect(found(second('checkpoint.gateDecision.gate === "ship" && result.x === 1'))).toHaveLength(1);
    expect(found(second('"B" === checkpoint.gateDecision.phase'))).toHaveLength(1);
    expect(found(second('checkpoint.gateDecision.gate === "plan"'))).toEqual([]);
    expect(found(second('checkpoint.gateDecision.option === "Approve"'))).toEqual([]);
  });

  test('is none in a phase behind the gate', () => {
    const phases = [
      { id: 'A', gates: [gate('ship')] },
      { id: 'B', postconditions: [on('checkpoint.gateDecision.option === "Approve"')] },
    ];

    expect(found(phases)).toEqual([]);
  });
});

import type { GateDraft, Workflow } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { checkWorkflow } from './checkWorkflow.ts';
import { workflowOf } from './fixtures/flaws.ts';

describe('a human gate', () => {
  const gate = (options: readonly object[], more: object = {}) =>
    ({ id: 'ok', human: { prompt: 'Good?', options, ...more } }) as GateDraft;
  const found = (workflow: Workflow) =>
    checkWorkflow(workflow).findings.flatMap(({ code, phases, severity }) =>
      severity === 'error' ? [[code, ...phases].join(' ')] : [],
    );

  test('is required unless its author says that it is not', () => {
    const around = (more: object) =>
      workflowOf([
        {
          id: 'A',
          artifacts: [{ type: 'big' }],
          next: { condition: 'big === true', onTrue: 'B', onFalse: null },
        },
        { id: 'B', gates: [gate([{ label: 'Yes' }], more)] },
      ]);

    expect(found(around({}))).toEqual(['required_gate_bypassed B']);
    expect(found(around({ required: false }))).toEqual([]);
  });

  test('is not passed by `fail` until the loop is exhausted', () => {
    const workflow = workflowOf([
      { id: 'A' },
      {
        id: 'B',
        gates: [gate([{ label: 'Yes', next: 'SHIP', approves: true }])],
        next: { outcomes: { ok: 'SHIP', fail: 'A' }, maxIterations: 2, onExhausted: 'LOG' },
      },
      { id: 'LOG', next: { to: 'SHIP' } },
      { id: 'SHIP' },
    ]);

    expect(found(workflow)).toEqual(['required_gate_bypassed B']);
  });

  test('is not passed by a rejection, also where that leads on', () => {
    const options = [{ label: 'Yes' }, { label: 'No', next: 'LOG', approves: false }];
    const phases = [{ id: 'A', gates: [gate(options)] }, { id: 'SHIP', next: { to: null } }, { id: 'LOG' }];
    const properties = [
      { name: 'done', always: ['A'] },
      { name: 'in order', before: ['A', 'LOG'] },
    ];

    expect(checkWorkflow(workflowOf(phases, { properties })).findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('in order'),
      expect.stringContaining("without a human's yes at `ok` of phase `A`"),
      expect.stringContaining('done'),
    ]);
  });

  test('that stands behind two phases is proven for each of them', () => {
    const gates = { ok: gate([{ label: 'Yes' }]) };
    const phases = [
      { id: 'PLAN', gates: ['ok'] },
      {
        id: 'BUILD',
        artifacts: [{ type: 'big' }],
        next: { condition: 'big === true', onTrue: 'REVIEW', onFalse: 'SHIP' },
      },
      { id: 'REVIEW', gates: ['ok'] },
      { id: 'SHIP' },
    ];
    const workflow = workflowOf(phases, { gates, properties: [{ name: 'seen', before: ['ok', 'SHIP'] }] });

    expect(found(workflow)).toEqual(['property_broken SHIP', 'required_gate_bypassed REVIEW']);
  });

  test('is passed no longer when its phase is entered again and left without it', () => {
    const workflow = workflowOf([
      { id: 'A', gates: [gate([{ label: 'Yes' }])], next: { outcomes: { ok: 'B', fail: 'LOG' } } },
      {
        id: 'B',
        artifacts: [{ type: 'good' }],
        next: { condition: 'good === true', onTrue: null, onFalse: 'A', maxIterations: 1 },
      },
      { id: 'LOG', gates: [gate([{ label: 'End' }], { required: false })] },
    ]);

    expect(found(workflow)).toEqual(['required_gate_bypassed A']);
  });

  test('is passed no longer when another phase hands in what it covers', () => {
    const workflow = (name: string) =>
      workflowOf([
        { id: 'PLAN', artifacts: [{ type: 'plan' }], gates: [gate([{ label: 'Yes' }])] },
        { id: 'BUILD', artifacts: [{ type: name }] },
      ]);

    expect(found(workflow('plan'))).toContain('required_gate_bypassed PLAN');
    expect(found(workflow('code'))).toEqual([]);
  });
});

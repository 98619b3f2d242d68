import { describe, expect, test } from 'vitest';
import { checkWorkflow } from './checkWorkflow.ts';
import { workflowOf } from './fixtures/flaws.ts';

describe('answers about evidence that cannot change', () => {
  const yes = [{ id: 'ok', human: { prompt: 'Good?', options: [{ label: 'Yes' }] } }];

  test('a gate whose every yes the next phase refuses is a dead end', () => {
    const workflow = workflowOf([
      { id: 'A', gates: yes },
      { id: 'B', preconditions: [{ ref: 'isReady' }] },
    ]);

    expect(checkWorkflow(workflow).findings).toMatchObject([
      {
        code: 'dead_end',
        phases: ['A'],
        trace: [
          'start',
          'complete `A` → the human gate of `A`',
          'a human chooses `Yes` at `ok`, `isReady` does not hold',
        ],
      },
    ]);
  });

  test('it is none where the human can send the work back, or the engine refuses to open the gate', () => {
    const back = [
      { id: 'ok', human: { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'No', next: 'A' }] } },
    ];
    const asks = { check: 'expression', with: { condition: 'artifacts.plan.ready' } };
    const plan = { id: 'A', artifacts: [{ type: 'plan' }] };

    expect(
      checkWorkflow(
        workflowOf([
          { id: 'A', gates: back },
          { id: 'B', preconditions: [{ ref: 'isReady' }] },
        ]),
      ),
    ).toMatchObject({ clean: true });
    expect(
      checkWorkflow(
        workflowOf([
          { ...plan, gates: yes },
          { id: 'B', preconditions: [asks] },
        ]),
      ),
    ).toMatchObject({ clean: true });
  });

  test('a join without items that is refused can never be fixed', () => {
    const joined = (condition: string) =>
      workflowOf([
        { id: 'A', artifacts: [{ type: 'parts' }] },
        {
          id: 'B',
          parallel: { key: 'parts' },
          gates: [{ blockers: [{ check: 'expression', label: 'something was done', with: { condition } }] }],
        },
      ]);

    expect(checkWorkflow(joined('result.items.first')).findings).toMatchObject([
      {
        code: 'dead_end',
        phases: ['B'],
        trace: ['start', 'complete `A`, `B` has no items, `something was done` does not hold → `B`'],
      },
      { code: 'claims_alone' },
    ]);
    expect(checkWorkflow(joined('iteration === 1'))).toMatchObject({ clean: true });
  });

  test('what only other phases handed in cannot be fixed in this one', () => {
    const condition = 'artifacts.plan.ready';
    const asks = { check: 'expression', label: 'the plan is ready', with: { condition } };
    const plan = { id: 'PLAN', artifacts: [{ type: 'plan' }] };
    const trace = ['start', 'complete `PLAN` → `WORK`', 'complete `WORK`, `the plan is ready` does not hold'];

    for (const phases of [
      [plan, { id: 'WORK', postconditions: [asks] }],
      [plan, { id: 'WORK' }, { id: 'SHIP', preconditions: [asks] }],
    ]) {
      const { findings } = checkWorkflow(workflowOf(phases));
      expect(findings[0]).toMatchObject({ code: 'dead_end', phases: ['WORK'], trace });
    }
  });

  test('it can where the phase hands it in itself, or has a way out', () => {
    const asks = { check: 'expression', with: { condition: 'artifacts.plan.ready' } };
    const plan = { id: 'PLAN', artifacts: [{ type: 'plan' }] };
    const errors = (phases: Parameters<typeof workflowOf>[0]) =>
      checkWorkflow(workflowOf(phases)).findings.filter(({ code }) => code === 'dead_end');

    expect(errors([plan, { id: 'WORK', artifacts: [{ type: 'plan' }], postconditions: [asks] }])).toEqual([]);
    expect(errors([{ ...plan }, { id: 'SHIP', preconditions: [asks] }])).toEqual([]);
    expect(
      errors([
        plan,
        {
          id: 'WORK',
          postconditions: [asks],
          next: { outcomes: { ok: null, fail: 'PLAN' }, maxIterations: 3 },
        },
      ]),
    ).toEqual([]);
  });
});

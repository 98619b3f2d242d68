import type { GateDraft } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { checkWays, workflowOf } from './fixtures/flaws.ts';

describe('what a human approved', () => {
  const asks = (condition: string) => [{ check: 'expression', label: 'low risk', with: { condition } }];
  const plan = [{ type: 'plan' }];
  const gates = [{ id: 'ok', human: { prompt: 'Good?', options: [{ label: 'Yes' }], required: false } }];
  const walked = (middle: object, condition: string) =>
    checkWays(
      workflowOf([
        { id: 'PLAN', artifacts: plan, gates },
        { id: 'BUILD', ...middle },
        { id: 'SHIP', preconditions: asks(condition) },
      ]),
    ).findings.map(({ code }) => code);

  test('is replaced by another phase before a condition reads it: that is found', () => {
    expect(walked({ artifacts: plan }, "artifacts.plan.risk === 'low'")).toEqual(['approval_replaced']);
    expect(walked({ artifacts: plan }, "checkpoint.plan.risk === 'low'")).toEqual(['approval_replaced']);
  });

  test('is not where the condition reads what was approved, nobody can replace it, or a human looks again', () => {
    expect(walked({ artifacts: plan }, "approved.plan.risk === 'low'")).toEqual([]);
    expect(walked({}, "artifacts.plan.risk === 'low'")).not.toContain('approval_replaced');
    expect(walked({ artifacts: plan, gates }, "artifacts.plan.risk === 'low'")).toEqual([]);
  });
});

test('code that a workflow imports is its law too, and may not be written', () => {
  const workflow = {
    ...workflowOf([{ id: 'A', allowedTools: ['write_files'], writes: ['lib/**'] }]),
    module: 'flow.workflow.ts',
  };

  const { findings } = checkWays(workflow, { around: { code: ['flow.workflow.ts', 'lib/checks.ts'] } });

  expect(findings).toMatchObject([
    {
      code: 'writes_own_law',
      message: expect.stringContaining('`lib/checks.ts`, which the functions of the workflow import'),
    },
  ]);
});

test('documents that are served as standards are found in a write scope, as a note where a human looks at them', () => {
  const written = (writes: string, gates: readonly GateDraft[] = []) =>
    checkWays(workflowOf([{ id: 'A', allowedTools: ['write_files'], writes: [writes], gates }]), {
      around: { standards: ['docs/**/*.md', 'README.md'] },
    }).findings.map(({ code, severity }) => `${code} ${severity}`);
  const human = { prompt: 'Good?', options: [{ label: 'Yes' }] };

  expect(written('docs/**')).toEqual(['writes_standards error']);
  expect(written('**')).toEqual(['writes_standards error']);
  expect(written('docs/**', [{ human }])).toEqual(['writes_standards note']);
  expect(written('docs/**/*.ts')).toEqual([]);
  expect(written('src/**')).toEqual([]);
});

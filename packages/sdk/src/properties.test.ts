import { defineWorkflow as defineCore } from '@phasegate/core';
import { expect, test } from 'vitest';
import { defineWorkflow, type WorkflowDefinition } from './index.ts';

const steps = [
  { name: 'A' },
  { name: 'B', humanGate: { prompt: 'Good?', required: true, options: [{ label: 'Yes' }] } },
];

test('properties and required gates are written in code as in YAML', () => {
  const { draft, problems } = defineWorkflow({
    type: 'w',
    steps,
    properties: [
      { name: 'built', always: 'A' },
      { name: 'in order', before: ['A', 'B'] },
    ],
  });

  const defined = defineCore(draft, { checks: {} });

  expect(problems).toEqual([]);
  expect(defined).toMatchObject({
    ok: true,
    workflow: {
      phases: [{ id: 'A' }, { id: 'B', humanGate: { required: true } }],
      properties: [
        { name: 'built', kind: 'always', of: [{ kind: 'phase', phase: 'A' }] },
        { name: 'in order', kind: 'before' },
      ],
    },
  });
});

test('a property in code that cannot be read is a problem', () => {
  const properties = [{ always: 'A' }, { name: 'p', allways: 'A' }] as unknown as NonNullable<
    WorkflowDefinition['properties']
  >;

  const { problems } = defineWorkflow({ type: 'w', steps, properties });

  expect(problems).toMatchObject([
    { path: ['properties', 0], code: 'missing_key' },
    { path: ['properties', 1, 'allways'], code: 'unknown_key' },
  ]);
});

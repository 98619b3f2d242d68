import { fileURLToPath } from 'node:url';
import { checkWorkflow } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';

test.each([
  ['tdd', 'tdd'],
  ['many-agents', 'change'],
  ['w1-editing', 'w1_editing'],
  ['spec-execution', 'spec_execution_v1'],
  ['test-generation', 'test_generation_v3'],
])('every state of the example %s was walked and nothing is wrong with it', async (folder, id) => {
  const projectDir = fileURLToPath(new URL(folder, import.meta.url));
  const { catalog } = await openLocalProject({ projectDir, env: process.env });

  const report = checkWorkflow((await catalog.load(id)).workflow);

  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(report.bound).toBeNull();
});

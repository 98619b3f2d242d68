import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';
import { testLocalWorkflow } from '../packages/phasegate/src/localTests.ts';

describe.each([
  ['tdd', 'tdd'],
  ['w1-editing', 'w1_editing'],
  ['test-generation', 'test_generation_v3'],
  ['spec-execution', 'spec_execution_v1'],
  ['many-agents', 'change'],
])('%s', (folder, workflow) => {
  test('passes all its tests, among them contract tests [S4.58 S4.83]', async () => {
    const projectDir = fileURLToPath(new URL(`./${folder}`, import.meta.url));
    const project = await openLocalProject({ projectDir, env: process.env });
    const request = { project, workflow, filter: null, category: null, environment: process.env };
    const signal = new AbortController().signal;

    const results = await testLocalWorkflow({ ...request, signal, report: () => undefined });

    expect(results.filter(({ status }) => status === 'failed')).toEqual([]);
    const kinds = new Set(
      results.filter(({ status }) => status === 'passed').map(({ category }) => category),
    );
    expect([...kinds]).toEqual(expect.arrayContaining(['import', 'structure', 'steps', 'contract']));
  });
});

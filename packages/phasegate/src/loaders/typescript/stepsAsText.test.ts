import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Known } from '@phasegate/core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { OPEN_GATE } from './fixtures/openGate.ts';
import { createFunctions } from './functionHost.ts';
import { createTypeScriptLoader } from './typeScriptLoader.ts';

const DESIGNS = fileURLToPath(new URL('../../../../sdk/src/fixtures', import.meta.url));
const known: Known = {
  checks: { expression: { parameters: { type: 'object' }, class: 'claimed', conditions: ['condition'] } },
};
const functions = createFunctions({ root: DESIGNS, gate: OPEN_GATE });
afterAll(() => functions.close());

describe('steps that are texts', () => {
  test('are written down or made by a function, all of them given the same [S4.42 S4.45]', async () => {
    const { workflow } = await load(DESIGNS, 'hybrid.workflow.ts');
    const made = workflow?.phases.flatMap((phase) => (phase.render === null ? [] : [phase.render])) ?? [];
    const context = { phase: 13, params: { confidence: 'certain' }, state: {}, iteration: 3 };

    const texts = made.map((ref) =>
      functions.call({
        file: join(DESIGNS, 'hybrid.workflow.ts'),
        code: workflow?.code ?? '',
        ref,
        context,
        timeoutMs: 10_000,
      }),
    );

    expect(workflow?.phases.map((phase) => [phase.id, phase.name, phase.instructions])).toEqual([
      [1, 'Context Clarification', 'Say what the question is'],
      [2, 'Abstraction', 'Say what kind of question it is'],
      [9, '9', ''],
      [13, '13', ''],
    ]);
    expect(await Promise.all(texts)).toEqual([
      { ok: true, value: { title: 'Dispatch', body: 'Send the questions out' } },
      {
        ok: true,
        value: { title: 'Iterative Refinement (Iteration 3) -> Complete', body: 'Iteration 3 of 5' },
      },
    ]);
  });

  test('and a map of functions that names one written further down is found when it is loaded [S4.46]', async () => {
    const root = await mkdtemp(join(tmpdir(), 'phasegate-text-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    await writeFile(
      join(root, 'late.workflow.ts'),
      `import { StepDef, Workflow } from '@phasegate/sdk';

const DYNAMIC_STEPS = { 1: formatOne };
const formatOne = () => ['One', 'Body'] as const;

export const WORKFLOW = Workflow('late', StepDef({ id: 1, body: DYNAMIC_STEPS[1], next: null }));
`,
    );

    const { workflow, problems } = await load(root, 'late.workflow.ts');

    expect(workflow).toBeNull();
    expect(problems.map((problem) => problem.message).join()).toContain('formatOne');
  });
});

test.each(readdirSync(DESIGNS).filter((file) => file.endsWith('.workflow.ts')))(
  'no workflow of the designs is left out: %s loads and is valid [S4.58 S4.59]',
  async (file) => {
    const { workflow, problems } = await load(DESIGNS, file);

    expect(problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    expect(workflow).not.toBeNull();
  },
);

function load(root: string, path: string) {
  return createTypeScriptLoader({ known, functions: root === DESIGNS ? functions : own(root) }).load({
    root,
    path,
  });
}

function own(root: string) {
  const mine = createFunctions({ root, gate: OPEN_GATE });
  onTestFinished(() => mine.close());
  return mine;
}

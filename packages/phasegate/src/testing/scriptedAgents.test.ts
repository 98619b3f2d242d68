import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openLocalProject } from '../localProject.ts';
import { testLocalWorkflow } from '../localTests.ts';
import type { TestResult } from '../runtime/ports.ts';

const made: string[] = [];
afterAll(() => {
  for (const root of made) rmSync(root, { recursive: true, force: true });
});

const WHOLE = `
workflow: w
phases:
  PLAN:
    instructions: Plan
    allowed_tools: [read_files]
    forbidden_tools: [bash]
    required_artifacts:
      - { type: plan, schema: { type: object, required: [summary] } }
      - { type: risks, schema: { type: array } }
    gate: { human: { prompt: Good?, options: [{ label: Yes }, { label: No, next: PLAN }] } }
    next: DO
  DO:
    instructions: Do
    allowed_tools: [read_files, write_files]
    writes: ["src/**"]
    required_artifacts: [{ type: report, schema: { type: string } }]
    postconditions: [{ name: said, check: expression, with: { condition: "length(result.report) > 2" } }]
`;

const CONTRACT = `
evidence:
  PLAN: { plan: { summary: x }, risks: [] }
  DO: { report: done }
demands:
  gates: [PLAN]
  evidence: { PLAN: [plan, risks], DO: [report] }
  forbidden: { PLAN: [bash, write_files], DO: [bash, fetch] }
tests:
  - { name: honest, agent: honest }
  - { name: forgetful, agent: forgetful }
  - { name: cheating, agent: cheating }
`;

describe('a workflow with what the contract demands', () => {
  test('passes with every agent', async () => {
    expect(await outcomes(WHOLE)).toEqual({ honest: '', forgetful: '', cheating: '' });
  });
});

describe('a hole in a workflow is found by the cheating agent, which says what it got away with', () => {
  test.each([
    ['a gate that is missing', / {4}gate: .*\n/, '', "phase `PLAN` was left without a human's decision"],
    [
      'evidence that is no longer asked for',
      / {6}- \{ type: risks.*\n/,
      '',
      'phase `PLAN` was completed without `risks`',
    ],
    [
      'a tool that should be forbidden',
      'allowed_tools: [read_files, write_files]',
      'allowed_tools: [read_files, write_files, bash]',
      'the forbidden tool `bash` was allowed in `DO` with {"path":"README.md","command":"true"}',
    ],
    [
      'a tool that is let in for some files only',
      'allowed_tools: [read_files]\n    forbidden_tools: [bash]',
      'allowed_tools: [read_files, write_files]\n    writes: ["docs/*.md"]',
      'the forbidden tool `write_files` was allowed in `PLAN` with {"path":"docs/x.md","command":"docs/x.md"}',
    ],
    ['a workflow that only advises', 'workflow: w', 'workflow: w\nenforcement: { mode: permissive }', ''],
  ])('%s', async (_, from, to, got) => {
    const workflow = WHOLE.replace(from, to);
    expect(workflow).not.toBe(WHOLE);

    expect((await outcomes(workflow)).cheating).toBe(got === '' ? '' : `w.contract.yaml: ${got}`);
  });

  test('a check that looks at what was dropped still refuses, and the agent may try again', async () => {
    const workflow = WHOLE.replace(/ {4}required_artifacts: \[\{ type: report.*\n/, '');

    expect((await outcomes(workflow)).cheating).toBe('');
  });
});

async function outcomes(workflow: string): Promise<Record<string, string>> {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-agents-'));
  made.push(root);
  writeFileSync(join(root, 'w.workflow.yaml'), workflow);
  writeFileSync(join(root, 'w.contract.yaml'), CONTRACT);
  const results: readonly TestResult[] = await testLocalWorkflow({
    project: await openLocalProject({ projectDir: root, env: process.env }),
    workflow: 'w',
    category: 'contract',
    filter: null,
    environment: process.env,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  return Object.fromEntries(results.map(({ name, message }) => [name.slice('w: '.length), message]));
}

import { mkdtempSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject, Phasegate } from '@phasegate/core';
import { encodeSubmitted, PLAIN } from '@phasegate/wire';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTestProject } from '../runtime/fixtures/openTestProject.ts';
import { SANDBOXES } from '../sandbox/fixtures/enclosing.ts';

const SPEC = `# Tasks

### Phase 1: Foundation

**Goal:** Lay the ground

**Tasks:**

- [ ] **Task 1.1**: Write the module
  - **Estimated Time**: 4 hours
  - **Dependencies**: None
  - **Acceptance Criteria**:
    - [ ] It compiles
- [ ] **Task 1.2**: Test the module
  - **Dependencies**: Task 1.1
  - **Acceptance Criteria**:
    - [ ] Tests pass

**Validation Gate:**

- [ ] All tests pass

### Phase 2: Delivery

**Goal:** Ship it

**Tasks:**

- [ ] **Task 2.1**: Publish
  - **Acceptance Criteria**:
    - [ ] It is published
`;
const FILES = {
  // What others write while a run is under way is not held against it.
  '.gitignore': 'specs/\ndocs/\n',
  'workflows/spec_execution_v1/metadata.json': JSON.stringify({
    workflow_type: 'spec_execution_v1',
    dynamic_phases: true,
    dynamic_config: {
      source_type: 'spec_tasks_md',
      source_path_key: 'spec_path',
      templates: { phase: 'phases/dynamic/phase-template.md', task: 'phases/dynamic/task-template.md' },
      parser: 'spec_tasks_parser',
    },
  }),
  'workflows/spec_execution_v1/phases/0/phase.md':
    '# Phase 0: Plan\n\nRead the spec.\n\nMust provide `phase_count`\n',
  'workflows/spec_execution_v1/phases/dynamic/phase-template.md':
    '# Phase [PHASE_NUMBER]: [PHASE_NAME]\n\nEXECUTE-NOW: [PHASE_DESCRIPTION]\n\n[VALIDATION_GATE]\n\nNext: [NEXT_PHASE_NUMBER]\n',
  'workflows/spec_execution_v1/phases/dynamic/task-template.md':
    '# [TASK_ID] [TASK_NAME]\n\nMUST-DO: [TASK_DESCRIPTION]\n\n[ACCEPTANCE_CRITERIA]\n\nNext: [NEXT_TASK_NUMBER]\n',
  'workflows/checked/metadata.json': '{ "workflow_type": "checked", "total_phases": 2 }',
  'workflows/checked/phases/1/phase.md':
    '# Phase 1: Count\n\nCount them.\n\n```json\n{ "found": 3, "files": ["a.ts"] }\n```\n',
  'workflows/checked/phases/1/gate-definition.yaml':
    'checkpoint: { strict: false, allow_override: true }\nevidence_schema:\n  found: { type: integer, description: How many, validator: positive }\n  files: { type: list, description: Where }\ncross_field_validation:\n  - { rule: "found >= len(files)", message: Fewer found than files }\n',
  'workflows/checked/phases/2/phase.md': '# Phase 2: Secret ending\n\nTell.\n',
  'workflows/looked_up/metadata.json': '{ "workflow_type": "looked_up", "total_phases": 2 }',
  'docs/looked_up/first.md': document(
    1,
    'Count the functions.\n\n- Must provide `function_count`, at least one',
  ),
  'docs/looked_up/second.md': document(2, 'Tell the ending.\n\n- Must provide `summary_text`'),
  'docs/other.md':
    '---\nphase: 1\ntags: [checkpoint]\n---\n\n# Phase 1 requirements\n\nMust provide `another_thing`\n',
  'specs/one/tasks.md': SPEC,
};

let folder: string;
let root: string;
let agent: Phasegate;
let close: () => Promise<void>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-markdown-run-'));
  root = join(folder, 'project');
  for (const [path, text] of Object.entries(FILES)) await write(path, text);
  await open();
});
afterEach(async () => {
  await close();
  await rm(folder, { recursive: true, force: true });
});

describe('a run of a folder with the whole model', () => {
  test.runIf(SANDBOXES)(
    'is held to its booleans, its command (bubblewrap) and its human, and is told what only warns [C30 C32]',
    async () => {
      const argv = (code: number) => `[${JSON.stringify(process.execPath)}, "-e", "process.exit(${code})"]`;
      await write('workflows/held/metadata.json', '{ "workflow_type": "held", "total_phases": 2 }');
      await write('workflows/held/phases/1/phase.md', '# Phase 1\n\nTest it. Human approval is required.\n');
      await write(
        'workflows/held/phases/1/gate-definition.yaml',
        [
          'evidence_schema: { tests_pass: { type: boolean, required: true, description: All pass } }',
          'human_approval_required: true',
          'postconditions:',
          `  - { check: command, with: { argv: ${argv(0)} }, needs: verified, message: the tests fail }`,
          `  - { check: command, with: { argv: ${argv(1)} }, severity: warning, message: the linter complains }`,
        ].join('\n'),
      );
      await write('workflows/held/phases/2/phase.md', '# Phase 2\n\nShip it.\n');
      const run = await start('held', {});

      expect(await complete(run, 1, { tests_pass: false })).toMatchObject({
        error: 'incomplete_checkpoint',
        missing_evidence: ['tests_pass (validation failed: must be true: All pass)'],
      });
      expect(await complete(run, 1, { tests_pass: true })).toMatchObject({
        checkpoint_passed: true,
        status: 'waiting',
        gate: { options: [{ label: 'Approve' }, { label: 'Reject' }] },
        warnings: [{ code: 'check_failed', message: expect.stringContaining('the linter complains') }],
      });
      expect(await complete(run, 2, {})).toMatchObject({ checkpoint_passed: false });
    },
  );
});

describe('a dynamic run', () => {
  test('is asked for every task of the phase, each once, and is told which are missing or unknown', async () => {
    const run = await start('spec_execution_v1', { spec_path: 'specs/one' });
    await complete(run, 0, { phase_count: 2 });
    await task(run, 1, 1);
    await task(run, 1, 2);

    const wrong = { ...firstEvidence(), tasks_completed: ['1.1', '1.1', '2.1'] };
    expect(await complete(run, 1, wrong)).toMatchObject({
      missing_evidence: ['tasks_completed (validation failed: missing: 1.2; unknown: 2.1; given twice: 1.1)'],
    });
    expect(await complete(run, 1, firstEvidence())).toMatchObject({ next_phase: 2 });
  });

  test('has the gates that metadata.json says for a range of its phases', async () => {
    const path = 'workflows/spec_execution_v1/metadata.json';
    const metadata = JSON.parse(FILES[path]);
    const phases = [
      { phase_number: 0, phase_name: 'Plan' },
      { phase_number: '1-N', phase_name: 'Work', human_approval_required: true },
    ];
    await write(path, JSON.stringify({ ...metadata, phases }));
    const run = await start('spec_execution_v1', { spec_path: 'specs/one' });
    await complete(run, 0, { phase_count: 2 });
    await task(run, 1, 1);
    await task(run, 1, 2);

    expect(await complete(run, 1, firstEvidence())).toMatchObject({ status: 'waiting' });
  });

  test('goes from its static phase into phases with command language, task by task, to the end [fail.17 S1.7 S1.40 S1.41 S1.44 S1.45 S1.80 S1.88 S1.90]', async () => {
    const run = await start('spec_execution_v1', { spec_path: 'specs/one' });

    const entered = await complete(run, 0, { phase_count: 2 });
    expect(entered).toMatchObject({ checkpoint_passed: true, next_phase: 1 });
    expect(entered.next_phase_content).toContain('EXECUTE-NOW: Lay the ground');
    const { current } = await agent.view(run);
    expect((await agent.view(run)).progress).toEqual({ completed: 1, current: 1, total: 3 });
    expect(current).toMatchObject({
      name: 'Foundation',
      tasks: [{ number: 1 }, { number: 2 }],
    });
    expect(current?.dynamic).toBe(true);

    expect(await complete(run, 1, firstEvidence())).toMatchObject({ error: 'tasks_not_fetched' });
    const first = await task(run, 1, 1);
    expect(first).toMatchObject({ session_id: run, phase: 1, task_number: 1, source: 'dynamic' });
    expect(first.task_content).toContain('MUST-DO:');
    expect(first.task_content).toContain('- [ ] It compiles\n\nNext: 2');
    expect((await task(run, 1, 2)).task_content).toContain('Next: none');
    expect(await complete(run, 1, { ...firstEvidence(), validation_gate: { item_1: 'yes' } })).toMatchObject({
      error: 'incomplete_checkpoint',
      missing_evidence: [expect.stringContaining('validation_gate')],
    });
    expect(await complete(run, 1, firstEvidence())).toMatchObject({ next_phase: 2 });
    await task(run, 2, 1);
    expect(await complete(run, 2, { tasks_completed: ['2.1'] })).toMatchObject({ workflow_complete: true });
  });

  test('keeps what it was started with when tasks.md, a template or a phase file changes, also after a restart [C5 S1.73 S1.87]', async () => {
    const run = await start('spec_execution_v1', { spec_path: 'specs/one' });
    const before = (await agent.view(run)).current?.content;
    await write('specs/one/tasks.md', SPEC.replaceAll('Foundation', 'Something else'));
    await write('workflows/spec_execution_v1/phases/0/phase.md', 'Other. Must provide `other_thing`\n');
    await rm(join(root, 'workflows/spec_execution_v1/phases/dynamic'), { recursive: true });

    await close();
    await open();

    expect((await agent.view(run)).current?.content).toBe(before);
    const entered = await complete(run, 0, { phase_count: 2 });
    expect(entered.next_phase_content).toContain('# Phase 1: Foundation\n\nEXECUTE-NOW: Lay the ground');
    expect((await task(run, 1, 2)).task_content).toContain('- [ ] Tests pass');
  });

  test('stands beside another of the same workflow with another spec [S1.65 S1.84 S1.86]', async () => {
    await write('specs/two/tasks.md', SPEC.replaceAll('Foundation', 'Groundwork'));
    const [one, two] = [
      await start('spec_execution_v1', { spec_path: 'specs/one' }),
      await start('spec_execution_v1', { spec_path: 'specs/two/tasks.md' }),
    ];

    const entered = [await complete(one, 0, { phase_count: 2 }), await complete(two, 0, { phase_count: 2 })];

    expect(entered.map(({ next_phase_content: text }) => String(text).split('\n')[0])).toEqual([
      '# Phase 1: Foundation',
      '# Phase 1: Groundwork',
    ]);
  });

  test.each([
    ['specs/none', 'file_unreadable'],
    ['../outside', 'path_outside'],
    ['/etc', 'path_outside'],
    ['specs/empty.md', 'source_parse_failed'],
    ['specs/folder', 'source_parse_failed'],
    ['specs/link', 'path_outside'],
    ['specs/link/tasks.md', 'path_outside'],
    ['specs/one/../../../x', 'path_outside'],
    ['specs/large.md', 'too_large'],
    ['', 'source_parse_failed'],
  ])('is not made from %s: %s [S1.74]', async (path, code) => {
    await write('specs/empty.md', '');
    await write('specs/large.md', `${SPEC}${'x'.repeat(20_000_000)}`);
    await mkdir(join(root, 'specs/folder/tasks.md'), { recursive: true });
    await symlink(join(root, 'specs/one'), join(root, 'specs/link'));

    const refused = agent.start({ workflow: 'spec_execution_v1', params: { spec_path: path } });

    await expect(refused).rejects.toMatchObject({ code, hint: expect.any(String) });
  });

  test('says what could not be parsed, and why [S1.74]', async () => {
    await write('specs/prose.md', 'Nothing to do here.\n');

    const refused = agent.start({ workflow: 'spec_execution_v1', params: { spec_path: 'specs/prose.md' } });

    await expect(refused).rejects.toMatchObject({
      code: 'source_parse_failed',
      message: expect.stringMatching(/^Could not parse specs\/prose\.md: ./),
      hint: 'Verify tasks.md follows spec format',
    });
  });

  test('is not made without a source, and says which param names it', async () => {
    const { verdict } = await agent.start({ workflow: 'spec_execution_v1', params: {} });

    expect(verdict).toMatchObject({
      allowed: false,
      blockers: [{ code: 'param_invalid', message: expect.stringContaining('spec_path') }],
    });
  });

  test('is not made with a template that is gone [S1.75]', async () => {
    await rm(join(root, 'workflows/spec_execution_v1/phases/dynamic/task-template.md'));

    const refused = agent.start({ workflow: 'spec_execution_v1', params: { spec_path: 'specs/one' } });

    await expect(refused).rejects.toMatchObject({
      code: 'template_not_found',
      message: 'Template phases/dynamic/task-template.md not found',
      hint: 'Check metadata.json template paths',
    });
  });
});

describe('a run of a folder with a gate file', () => {
  test('is held to it, however lenient it says it is [fail.1 fail.2]', async () => {
    const run = await start('checked', {});

    expect(await complete(run, 1, {})).toMatchObject({
      checkpoint_passed: false,
      error: 'incomplete_checkpoint',
      missing_evidence: ['found (required: How many)', 'files (required: Where)'],
      examples: { found: 3, files: ['a.ts'] },
    });
    expect(await complete(run, 1, { found: true, files: [] })).toMatchObject({
      missing_evidence: ['found (wrong type: expected int, got bool)'],
    });
    const crossed = await complete(run, 1, { found: 1, files: ['a', 'b'] });
    expect(crossed).toMatchObject({ error: 'check_failed' });
    expect(JSON.stringify(crossed)).toContain('Fewer found than files');
    expect(JSON.stringify(crossed)).not.toContain('Secret ending');
    expect(await complete(run, 1, { found: 2, files: ['a', 'b'] })).toMatchObject({ next_phase: 2 });
  });
});

describe('a run of a workflow without phase files', () => {
  test('takes its phases from the documentation when it starts, and needs it no more [C26 S0.17 S0.58 S0.61]', async () => {
    const run = await start('looked_up', {});
    const content = (await agent.view(run)).current?.content;
    expect(content).toContain('Count the functions.');
    expect(content).not.toContain('ending');
    await rm(join(root, 'docs'), { recursive: true });
    await close();
    await open();

    expect((await agent.view(run)).current?.content).toBe(content);
    expect(await complete(run, 1, { function_count: 0 })).toMatchObject({ error: 'incomplete_checkpoint' });
    expect(await complete(run, 1, { function_count: 3 })).toMatchObject({
      next_phase: 2,
      next_phase_content: expect.stringContaining('Tell the ending.'),
    });
  });

  test('is not made when the documentation says nothing of one of its phases [C19]', async () => {
    await rm(join(root, 'docs/looked_up/second.md'));

    await expect(agent.start({ workflow: 'looked_up' })).rejects.toMatchObject({
      code: 'workflow_invalid',
      problems: [{ code: 'no_content', message: expect.stringContaining('phase 2') }],
    });
  });
});

function document(phase: number, text: string): string {
  const matter = `workflow: looked_up\nphase: ${phase}\ntags: [checkpoint, evidence]`;
  return `---\n${matter}\n---\n\n# Phase ${phase} requirements\n\n${text}\n`;
}

async function open(): Promise<void> {
  const project = await openTestProject({
    projectDir: root,
    env: { XDG_STATE_HOME: join(folder, 'state') },
  });
  const opened = await project.open();
  agent = opened.as({ kind: 'agent', name: 'local' });
  close = () => opened.close();
}

async function start(workflow: string, params: JsonObject): Promise<string> {
  const { view, verdict } = await agent.start({ workflow, params });
  if (view === null) throw new Error(JSON.stringify(verdict));
  return view.run;
}

async function complete(run: string, phase: number, evidence: JsonObject): Promise<JsonObject> {
  return encodeSubmitted(await agent.submit(run, { kind: 'complete', phase, evidence }), PLAIN);
}

async function task(run: string, phase: number, number: number): Promise<JsonObject> {
  return encodeSubmitted(await agent.submit(run, { kind: 'fetch_task', phase, task: number }), PLAIN);
}

function firstEvidence(): JsonObject {
  return { tasks_completed: ['1.1', '1.2'], validation_gate: { item_1: '12 tests pass in npm test' } };
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

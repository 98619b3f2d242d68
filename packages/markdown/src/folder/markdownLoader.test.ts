import { requiredEvidence, validateCheckpoint } from '@phasegate/core/engine';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorsOf, type FolderProject, makeProject, messagesOf } from './fixtures/project.ts';

const METADATA = 'workflows/demo/metadata.json';
const PHASE_ONE = `# Phase 1: Analysis

Look at the code.

Checkpoint evidence:

- Must provide \`function_count\`: greater than zero
- Must provide \`method_count\` (number, may be empty)
- Must provide \`branch_count\` as a number
- Must provide \`ast_command_output\`, non-empty text
- Must provide \`functions_list\`, must contain every name
`;

let project: FolderProject;
beforeEach(() => {
  project = makeProject();
});
afterEach(() => project.remove());

describe('a folder of phases', () => {
  test('is served file by file, exactly as written, in the order of the numbers [C26]', async () => {
    const files = {
      'phases/0/phase.md': '# Phase 0: Setup\r\n\r\nDo *this*.\r\n',
      'phases/2/phase.md': '---\ntitle: x\n---\n\n# Build it\n\nText\n\n\n',
      'phases/10/phase.md': 'Only text, [PHASE_NUMBER] and {{x}} stay',
      'phases/1A/phase.md': '# Phase 1A – Middle\n\nText',
    };
    await write({ ...files, 'metadata.json': { workflow_type: 'demo', version: '2.0', title: 'Demo' } });

    const { workflow, problems } = await project.load();

    expect(errorsOf({ problems })).toEqual([]);
    expect(workflow).toMatchObject({ id: 'demo', title: 'Demo', version: '2.0', entry: 0, templates: null });
    expect(workflow?.phases.map(({ id, name }) => [id, name])).toEqual([
      [0, 'Setup'],
      ['1A', 'Middle'],
      [2, 'Build it'],
      [10, 'Phase 10'],
    ]);
    expect(workflow?.phases.map(({ content }) => content)).toEqual(
      [0, '1A', 2, 10].map((id) => ({
        kind: 'text',
        text: files[`phases/${id}/phase.md` as keyof typeof files],
      })),
    );
  });

  test.each([0, 1])(
    'whose task files are numbered from %i serves each exactly once [fail.23]',
    async (first) => {
      const names = ['create', 'read', 'update', 'delete'];
      const tasks = names.map((name, index) => [
        `phases/1/task-${first + index}-${name}.md`,
        `# Task: ${name}\n\nDo it.\n`,
      ]);
      await write({
        'metadata.json': { workflow_type: 'demo' },
        'phases/1/phase.md': PHASE_ONE,
        ...Object.fromEntries(tasks),
        'phases/1/task-10-last.md': 'No heading here',
      });

      const { workflow } = await project.load();

      expect(workflow?.phases[0]?.tasks.map(({ name }) => name)).toEqual([
        'Task: create',
        'Task: read',
        'Task: update',
        'Task: delete',
        'last',
      ]);
      expect(workflow?.phases[0]?.tasks[0]?.content).toEqual({
        kind: 'text',
        text: '# Task: create\n\nDo it.\n',
      });
    },
  );

  test('takes names and purposes from metadata.json, and accepts what only describes', async () => {
    await write({
      'metadata.json': {
        workflow_type: 'demo',
        name: 'demo-v1',
        total_phases: 1,
        estimated_duration: '1 h',
        primary_outputs: ['x'],
        quality_metrics: {},
        strengths: [],
        start_phase: 1,
        stregnths: [],
        phases: [
          {
            phase_number: 1,
            phase_name: 'Look',
            purpose: 'See what is there',
            estimated_effort: '5 min',
            key_deliverables: ['a'],
            validation_criteria: ['b'],
            tasks: [{ task_number: 1, name: 'look', file: 'task-1.md' }],
          },
        ],
      },
      'phases/1/phase.md': PHASE_ONE,
      'phases/1/task-1.md': 'Look',
    });

    const { workflow, problems } = await project.load();

    expect(workflow).toMatchObject({
      title: 'demo-v1',
      phases: [{ name: 'Look', description: 'See what is there' }],
    });
    expect(errorsOf({ problems })).toEqual([]);
    expect(messagesOf({ problems }, 'unknown_key')).toEqual([
      expect.stringContaining('`stregnths` is not read'),
    ]);
  });

  test('may say what an agent must be able to do, and is told where it cannot be', async () => {
    const phase = { 'phases/1/phase.md': 'Text', 'phases/1/task-1.md': 'Task' };
    await write({ 'metadata.json': { workflow_type: 'demo', capabilities: ['node'] }, ...phase });
    const good = await project.load();
    await write({ 'metadata.json': { workflow_type: 'demo', capabilities: ['node', '!'] } });
    const bad = await project.load();
    await write({ 'metadata.json': { workflow_type: 'demo', capabilities: 'node' } });

    expect(good.workflow?.capabilities).toEqual(['node']);
    expect(errorsOf(bad)).toEqual([expect.stringMatching(/metadata\.json:\d+:\d+ bad_value$/)]);
    expect(errorsOf(await project.load())).toEqual([
      expect.stringMatching(/metadata\.json:\d+:\d+ wrong_type$/),
    ]);
  });

  test('has the closure of every file it was read from', async () => {
    await write({
      'metadata.json': { workflow_type: 'demo' },
      'phases/1/phase.md': 'Text',
      'phases/1/task-1.md': 'Task',
      'phases/1/gate-definition.yaml': 'evidence_schema: { a: { type: list } }',
      'phases/1/notes.md': 'not served',
    });

    const { files, problems } = await project.load();

    expect(Object.keys(files).sort()).toEqual([
      'workflows/demo/metadata.json',
      'workflows/demo/phases/1/gate-definition.yaml',
      'workflows/demo/phases/1/phase.md',
      'workflows/demo/phases/1/task-1.md',
    ]);
    expect(messagesOf({ problems }, 'not_served')).toEqual([expect.stringContaining('notes.md')]);
  });
});

describe('evidence', () => {
  test('is read from the prose of phase.md when the workflow is loaded, and said back [S0.16 S0.19 S0.28 S0.64 S0.65]', async () => {
    await write({ 'metadata.json': { workflow_type: 'demo' }, 'phases/1/phase.md': PHASE_ONE });

    const { workflow, problems } = await project.load();
    const phase = workflow?.phases[0];
    if (phase === undefined) throw new Error('the workflow did not load');

    expect(phase.evidence.fields.map(({ name, type, rule }) => `${name} ${type} ${rule}`)).toEqual([
      'function_count int positive',
      'method_count int optional',
      'branch_count int present',
      'ast_command_output str non_empty',
      'functions_list list non_empty',
    ]);
    expect(requiredEvidence(phase)).toEqual({
      function_count: {
        type: 'int',
        validator: 'positive',
        description: 'Must provide `function_count`: greater than zero',
      },
      method_count: {
        type: 'int',
        validator: 'optional',
        description: 'Must provide `method_count` (number, may be empty)',
      },
      branch_count: {
        type: 'int',
        validator: 'present',
        description: 'Must provide `branch_count` as a number',
      },
      ast_command_output: {
        type: 'str',
        validator: 'non_empty',
        description: 'Must provide `ast_command_output`, non-empty text',
      },
      functions_list: {
        type: 'list',
        validator: 'non_empty',
        description: 'Must provide `functions_list`, must contain every name',
      },
    });
    expect(messagesOf({ problems }, 'understood_evidence')).toContain(
      'phase `1` asks for `function_count`: int, above zero or not empty',
    );
    const full = {
      function_count: 21,
      method_count: 15,
      branch_count: 36,
      ast_command_output: 'def compile()',
      functions_list: ['compile'],
    };
    expect(validateCheckpoint(phase, full)).toEqual({ passed: true, missing: [] });

    await write({ 'phases/1/phase.md': PHASE_ONE.replace('(number, may be empty)', '(number)') });
    const edited = (await project.load()).workflow?.phases[0];
    if (edited === undefined) throw new Error('the workflow did not load');
    expect(validateCheckpoint(edited, { function_count: 21 }).missing.length).toBe(4);
  });

  test('is read from tables, by their columns', async () => {
    const table = [
      '# Phase',
      '',
      'Show this.',
      '',
      '| Field | Type | Validator | Description |',
      '|:--|---|---|---|',
      '| `function_count` | int | greater_than_0 | Functions \\| methods |',
      '| **names** | list | non_empty | |',
      '| share | float | percentage | |',
      '| remark | str | optional | Anything |',
      '',
      '| Name | Colour |',
      '|---|---|',
      '| not | evidence |',
    ].join('\r\n');
    await write({ 'metadata.json': { workflow_type: 'demo' }, 'phases/1/phase.md': table });

    const { workflow, problems } = await project.load();

    expect(errorsOf({ problems })).toEqual([]);
    expect(workflow?.phases[0]?.evidence.fields).toEqual([
      { name: 'function_count', type: 'int', rule: 'positive', description: 'Functions | methods' },
      { name: 'names', type: 'list', rule: 'non_empty', description: '' },
      { name: 'share', type: 'number', rule: 'present', description: '' },
      { name: 'remark', type: 'str', rule: 'optional', description: 'Anything' },
    ]);
    expect(workflow?.phases[0]?.postconditions).toMatchObject([
      {
        use: 'expression',
        label: 'share',
        with: { condition: '(0 <= result.share && result.share <= 100)' },
      },
    ]);
  });

  test('of a gate file and of phase.md both hold, and examples come from the JSON blocks [C30]', async () => {
    const example =
      '\n## Example\n\n```json\n{ "files": ["a.ts"], "other": 1 }\n```\n\n```json\nnot json\n```\n';
    await write({
      'metadata.json': { workflow_type: 'demo' },
      'phases/1/phase.md': PHASE_ONE + example,
      'phases/1/gate-definition.yaml':
        'evidence_schema: { files: { type: list, description: Files } }\ncross_field_validation: [len(files) >= 2]',
    });

    const { workflow } = await project.load();

    const { fields = [], examples } = workflow?.phases[0]?.evidence ?? {};
    expect(fields[0]).toEqual({ name: 'files', type: 'list', rule: 'present', description: 'Files' });
    expect(fields.length).toBeGreaterThan(1);
    expect(examples).toEqual({ files: ['a.ts'] });
    expect(workflow?.phases[0]?.postconditions).toMatchObject([
      { with: { condition: 'length(result.files) >= 2' } },
    ]);
  });

  test('that is not asked for is noted', async () => {
    await write({ 'metadata.json': { workflow_type: 'demo' }, 'phases/1/phase.md': 'Just do it' });

    expect(messagesOf(await project.load(), 'no_evidence').length).toBe(1);
  });

  test.each([
    ['| Evidence | Type |\n|---|---|\n| `a b` | int |', 'bad_name'],
    ['| Evidence | Type |\n|---|---|\n| a | integr |', 'bad_type'],
    ['| Evidence | Type | Validator |\n|---|---|---|\n| a | int | nobody_knows |', 'unknown_validator'],
    ['| Evidence | Type | Required |\n|---|---|---|\n| a | int | perhaps |', 'bad_value'],
    ['Required: proof', 'unknown_field'],
  ])('that cannot be understood makes the workflow invalid: %j [S0.29]', async (text, code) => {
    await write({ 'metadata.json': { workflow_type: 'demo' }, 'phases/1/phase.md': `Text\n\n${text}` });

    const loaded = await project.load();

    expect(loaded.workflow).toBeNull();
    expect(errorsOf(loaded)).toEqual([expect.stringMatching(`phases/1/phase.md:\\d+:1 ${code}`)]);
  });
});

describe('metadata.json that is wrong fails with file and field', () => {
  test.each([
    ['{ "title": "x" }', '1:1 missing_key'],
    ['{\n  "workflow_type": 3\n}', '2:20 wrong_type'],
    ['{\n\t"workflow_type": ""\n}', '2:19 bad_value'],
    ['{ "workflow_type": "demo_v2" }', '1:20 name_mismatch'],
    ['{ "workflow_type": "demo", "total_phases": 3 }', '1:44 phase_mismatch'],
    ['{ "workflow_type": "demo", "total_phases": "two" }', '1:44 wrong_type'],
    ['{ "workflow_type": "demo", "phases": {} }', '1:38 wrong_type'],
    [
      '{ "workflow_type": "demo", "phases": [{ "phase_number": 1 }, { "phase_number": 7 }] }',
      '1:80 phase_mismatch',
    ],
    ['{ "workflow_type": "demo", "phases": [] }', '1:28 phase_mismatch'],
    [
      '{ "workflow_type": "demo", "phases": [{ "phase_number": 1, "tasks": [{ "file": "task-9.md" }] }] }',
      '1:80 file_unreadable',
    ],
    ['{ "workflow_type": "demo", "dynamic_phases": "yes" }', '1:46 wrong_type'],
    ['{ "workflow_type": "demo", "dynamic_phases": true }', '1:46 missing_key'],
    ['{ "workflow_type": "demo", "params": { "a": { "type": "txt" } } }', '1:55 bad_type'],
    ['{ "workflow_type": "demo", "workflow_type": "demo" }', '1:28 duplicate_key'],
    ['{ "workflow_type": "demo", }', '1:28 syntax'],
    ['', '1:1 empty_file'],
    ['[]', '1:1 wrong_type'],
  ])('%s: %s [fail.35 fail.36]', async (text, expected) => {
    await project.write({ [METADATA]: text, 'workflows/demo/phases/1/phase.md': PHASE_ONE });

    const loaded = await project.load();

    expect(loaded.workflow).toBeNull();
    expect(errorsOf(loaded)).toEqual([`${METADATA}:${expected}`]);
  });

  test('but dashes and underscores are the same name', async () => {
    await project.write({
      'workflows/my-demo_v1/metadata.json': '{ "workflow_type": "my_demo_v1" }',
      'workflows/my-demo_v1/phases/1/phase.md': PHASE_ONE,
    });

    expect(errorsOf(await project.load('workflows/my-demo_v1/metadata.json'))).toEqual([]);
  });
});

describe('a listing', () => {
  test('reads metadata.json and nothing else', async () => {
    await write({
      'metadata.json': {
        workflow_type: 'demo',
        title: 'Demo',
        phases: [{ phase_number: 0 }, { phase_number: '1-N' }],
      },
    });

    expect(await project.loader.peek({ root: project.root, path: METADATA })).toEqual({
      id: 'demo',
      title: 'Demo',
      phases: ['0', '1-N'],
      problems: [],
    });
  });

  test('shows a broken one under the name of its folder, with the problem', async () => {
    await project.write({ [METADATA]: '{ broken' });

    expect(await project.loader.peek({ root: project.root, path: METADATA })).toMatchObject({
      id: 'demo',
      phases: null,
      problems: [{ code: 'syntax', line: 1 }],
    });
  });

  test('passes over a metadata.json that is not a workflow', async () => {
    await project.write({
      'metadata.json': '{ "workflow_type": "x" }',
      'workflows/photos/metadata.json': '{ "camera": "x" }',
      [METADATA]: '{ "workflow_type": "demo" }',
      'workflows/demo/docs/metadata.json': '{ "workflow_type": "inner" }',
    });
    const peek = (path: string) => project.loader.peek({ root: project.root, path });

    expect(project.loader.accepts('metadata.json')).toBe(false);
    expect(project.loader.accepts('workflows/demo/x-metadata.json')).toBe(false);
    expect(project.loader.accepts(METADATA)).toBe(true);
    expect(await peek('workflows/photos/metadata.json')).toBeNull();
    expect(await peek('workflows/demo/docs/metadata.json')).toBeNull();
    expect(await peek(METADATA)).toMatchObject({ id: 'demo' });
  });
});

async function write(files: Readonly<Record<string, string | object>>): Promise<void> {
  const texts = Object.entries(files).map(([path, value]) => [
    `workflows/demo/${path}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  await project.write(Object.fromEntries(texts));
}

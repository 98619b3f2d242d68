import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { phaseText, taskText } from '@phasegate/core/engine';
import type { ParsedSource, SourcePhase } from '@phasegate/core/ports';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorsOf, type FolderProject, makeProject, messagesOf, parserOf } from './fixtures/project.ts';

const DEMO = 'workflows/demo';
const PHASE_TEMPLATE = [
  '# [PHASE_NUMBER]: [PHASE_NAME]',
  'Goal [PHASE_DESCRIPTION]',
  'Takes [ESTIMATED_DURATION]',
  'Tasks [TASK_COUNT]',
  'Gate:',
  '[VALIDATION_GATE]',
  'Then [NEXT_PHASE_NUMBER]',
].join('\n');
const TASK_TEMPLATE = [
  '# [TASK_ID]: [TASK_NAME]',
  'In [PHASE_NUMBER] [PHASE_NAME]',
  'Do [TASK_DESCRIPTION]',
  'Takes [ESTIMATED_TIME]',
  'After [DEPENDENCIES]',
  '[ACCEPTANCE_CRITERIA]',
  'Then [NEXT_TASK_NUMBER]',
].join('\n');
const CONFIG = {
  source_type: 'spec_tasks_md',
  source_path_key: 'spec_path',
  templates: { phase: 'phases/dynamic/phase-template.md', task: 'phases/dynamic/task-template.md' },
  parser: 'test_parser',
};

let source: (path: string) => ParsedSource;
let project: FolderProject;
beforeEach(async () => {
  source = () => ({ phases: [phase('1', 2), phase('2', 1)], warnings: [] });
  project = makeProject([], [parserOf('test_parser', (path) => source(path))]);
  await project.write({
    [`${DEMO}/metadata.json`]: metadata({}),
    [`${DEMO}/phases/0/phase.md`]: '# Phase 0: Plan\n\nRead the spec. Must provide `phase_count`\n',
    [`${DEMO}/phases/dynamic/phase-template.md`]: PHASE_TEMPLATE,
    [`${DEMO}/phases/dynamic/task-template.md`]: TASK_TEMPLATE,
  });
});
afterEach(() => project.remove());

describe('a dynamic workflow', () => {
  test('has Phase 0 from its file and the others from the source its option names [S1.3 S1.5 S1.10 S1.11 S1.12 S1.13 S1.14 S1.15 S1.16 S1.38 S1.43]', async () => {
    const asked: string[] = [];
    source = (path) => {
      asked.push(path);
      return { phases: [phase('1', 2), phase('2', 1)], warnings: [] };
    };

    const loaded = await start();

    expect(errorsOf(loaded)).toEqual([]);
    expect(asked).toEqual(['specs/one']);
    expect(loaded.workflow?.phases.map(({ id, name }) => [id, name])).toEqual([
      [0, 'Plan'],
      [1, 'Phase one'],
      [2, 'Phase two'],
    ]);
    expect(loaded.workflow?.phases[0]?.content).toMatchObject({ kind: 'text' });
    expect(loaded.workflow?.params).toMatchObject({ spec_path: { type: 'string', required: true } });
  });

  test('fills the template of a phase [S1.6 S1.20 S1.47 S1.48 S1.49 S1.50 S1.51 S1.52 S1.53]', async () => {
    const texts = await phaseTexts();

    expect(texts[1]).toBe(
      '# 1: Phase one\nGoal About 1\nTakes 2 days\nTasks 2\nGate:\n- [ ] All green\n- [ ] Reviewed\nThen 2',
    );
    expect(texts[2]).toContain('Then none');
  });

  test('fills the template of a task, the last of which points nowhere [S1.21 S1.26 S1.54 S1.55 S1.56 S1.57 S1.58 S1.59 S1.60 S1.61 S1.62 fail.33]', async () => {
    const { workflow } = await start();
    const [, one] = workflow?.phases ?? [];
    if (workflow == null || one === undefined) throw new Error('the workflow did not load');

    expect(taskText(workflow, one, 1)).toBe(
      '# 1.1: Task 1.1\nIn 1 Phase one\nDo Describes 1.1\nTakes 4 hours\nAfter None\n- [ ] Criterion 1.1\nThen 2',
    );
    expect(taskText(workflow, one, 2)).toContain('After 1.1, Phase 0');
    expect(taskText(workflow, one, 2)).toContain('Then none');
  });

  test('is rendered when it is read, from what the run keeps [S1.4 S1.71 S1.85]', async () => {
    const { workflow } = await start();
    const [, one] = workflow?.phases ?? [];
    if (workflow == null || one === undefined) throw new Error('the workflow did not load');

    expect(workflow.templates).toEqual({ phase: PHASE_TEMPLATE, task: TASK_TEMPLATE });
    expect(JSON.stringify(workflow)).not.toContain('Goal About 1');
    expect(phaseText(workflow, one)).toContain('Goal About 1');
  });

  test('asks for the tasks that were done and for what shows each item of the gate [S1.91 fail.7]', async () => {
    const { workflow } = await start();

    expect(workflow?.phases[1]?.evidence).toMatchObject({
      fields: [{ name: 'tasks_completed', type: 'list', rule: 'non_empty' }],
      artifacts: [
        {
          type: 'validation_gate',
          schema: {
            required: ['item_1', 'item_2'],
            additionalProperties: false,
            properties: { item_1: { type: 'string', minLength: 10, description: 'All green' } },
          },
        },
      ],
    });
  });

  test('keeps the file its phases were made from, and its hash [adv.N14]', async () => {
    source = () => ({ phases: [phase('1', 1)], warnings: [], files: { 'specs/tasks.md': 'abc' } });

    expect((await start()).workflow?.source).toEqual({ path: 'specs/tasks.md', hash: 'abc' });
  });

  test('keeps the ids of its source, also `1A`, and is looked up by them [C4]', async () => {
    source = () => ({ phases: [phase('1A', 1), phase('1B', 1), phase('7', 1)], warnings: [] });

    const { workflow } = await start();

    expect(workflow?.phases.map(({ id, sourceId }) => [id, sourceId])).toEqual([
      [0, null],
      ['1A', null],
      ['1B', null],
      [7, null],
    ]);
    expect((await phaseTexts())[1]).toContain('Then 1B');
  });

  test('numbers the phases of the source on from its own where both have the same [fail.16]', async () => {
    source = () => ({ phases: [phase('0', 1), phase('1', 1)], warnings: [] });

    const { workflow } = await start();

    expect(workflow?.phases.map(({ id, sourceId }) => [id, sourceId])).toEqual([
      [0, null],
      [1, '0'],
      [2, '1'],
    ]);
  });

  test('treats what the source says as values, never as a template [S1.85]', async () => {
    const first = {
      ...phase('1', 1),
      name: '[PHASE_DESCRIPTION] [TASK_STEPS]',
      description: '[PHASE_NAME] {{x}}',
    };
    source = () => ({ phases: [first], warnings: [] });

    expect((await phaseTexts())[1]).toContain(
      '# 1: [PHASE_DESCRIPTION] [TASK_STEPS]\nGoal [PHASE_NAME] {{x}}\n',
    );
  });

  test('passes warnings of the parser on with their lines', async () => {
    source = () => ({
      phases: [phase('1', 1)],
      warnings: [{ line: 7, message: 'odd' }],
      files: { 'a/tasks.md': 'x' },
    });

    const { problems, files } = await start();

    expect(problems).toContainEqual(
      expect.objectContaining({ file: 'a/tasks.md', line: 7, code: 'source_warning' }),
    );
    expect(Object.keys(files)).not.toContain('a/tasks.md');
  });

  test('is its static part and a note where there is no run, with the same closure as with one', async () => {
    const loaded = await project.load();

    expect(loaded.workflow?.phases.map(({ id }) => id)).toEqual([0]);
    expect(messagesOf(loaded, 'dynamic_source').length).toBe(1);
    expect(loaded.files).toEqual((await start()).files);
    expect(Object.keys(loaded.files)).toContain(`${DEMO}/phases/dynamic/task-template.md`);
  });

  test('is one by `dynamic_phases: true` only: without it no source is asked [S1.64]', async () => {
    source = () => {
      throw new Error('asked');
    };
    await project.write({
      [`${DEMO}/metadata.json`]: metadata({
        total_phases: 1,
        phases: [{ phase_number: 0 }],
        dynamic_phases: false,
      }),
    });

    const loaded = await start();

    expect(loaded.workflow).toMatchObject({ templates: null, params: {}, phases: [{ id: 0 }] });
    expect(messagesOf(loaded, 'not_read').length).toBe(1);
  });

  test('may have no phase of its own at all [S1.1]', async () => {
    await project.write({
      'workflows/bare/metadata.json': metadata({
        workflow_type: 'bare',
        dynamic_config: { ...CONFIG, templates: { phase: 'p.md', task: 't.md' } },
      }),
      'workflows/bare/p.md': PHASE_TEMPLATE,
      'workflows/bare/t.md': TASK_TEMPLATE,
    });

    const bare = await project.load('workflows/bare/metadata.json');
    const started = await project.load('workflows/bare/metadata.json', {
      params: { spec_path: 'x' },
      target: null,
    });

    expect(errorsOf(bare)).toEqual([]);
    expect(started.workflow?.phases.map(({ id }) => id)).toEqual([1, 2]);
  });
});

describe('what is wrong is refused', () => {
  test('a template that is not there [S1.75]', async () => {
    const templates = { ...CONFIG.templates, task: 'phases/dynamic/none.md' };
    await project.write({
      [`${DEMO}/metadata.json`]: metadata({ dynamic_config: { ...CONFIG, templates } }),
    });

    const { workflow, problems } = await start();

    expect(workflow).toBeNull();
    expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
      {
        file: `${DEMO}/metadata.json`,
        code: 'template_not_found',
        message: 'Template phases/dynamic/none.md not found',
        hint: 'Check metadata.json template paths',
      },
    ]);
  });

  test.each(['../other/t.md', '/etc/hostname', 'phases/../../x.md', 'a\\..\\b.md'])(
    'a template outside the folder: %s',
    async (path) => {
      const templates = { ...CONFIG.templates, phase: path };
      await project.write({
        [`${DEMO}/metadata.json`]: metadata({ dynamic_config: { ...CONFIG, templates } }),
      });

      expect(errorsOf(await project.load())).toEqual([expect.stringContaining('path_outside')]);
    },
  );

  test('a template that is a link, a folder, empty, or open in its front matter', async () => {
    const at = (name: string) => join(project.root, DEMO, 'phases/dynamic', name);
    await symlink(at('phase-template.md'), at('link.md'));
    await mkdir(at('folder.md'));
    await project.write({
      [`${DEMO}/phases/dynamic/empty.md`]: '',
      [`${DEMO}/phases/dynamic/open.md`]: '---\nkey: x\n',
    });
    const codes: string[] = [];
    for (const name of ['link', 'folder', 'empty', 'open']) {
      const templates = { ...CONFIG.templates, phase: `phases/dynamic/${name}.md` };
      await project.write({
        [`${DEMO}/metadata.json`]: metadata({ dynamic_config: { ...CONFIG, templates } }),
      });
      codes.push(...errorsOf(await project.load()).map((line) => line.split(' ')[1] ?? ''));
    }

    expect(codes).toEqual(['path_outside', 'file_unreadable', 'empty_file', 'front_matter_open']);
  });

  test('a placeholder nobody can fill, with its place in the template [fail.33]', async () => {
    await project.write({
      [`${DEMO}/phases/dynamic/task-template.md`]: `${TASK_TEMPLATE}\n\n- [TASK_STEPS or guidance]\n`,
    });

    expect(errorsOf(await project.load())).toEqual([
      `${DEMO}/phases/dynamic/task-template.md:9:3 unresolved_placeholder`,
    ]);
  });

  test('a parser nobody registered [S1.16]', async () => {
    await project.write({
      [`${DEMO}/metadata.json`]: metadata({ dynamic_config: { ...CONFIG, parser: 'test_parse' } }),
    });

    expect(messagesOf(await project.load(), 'unknown_parser')).toEqual([
      expect.stringContaining('`test_parser`'),
    ]);
  });

  test.each([
    [new Error('line 3 is odd'), 'source_parse_failed', 'Could not parse specs/one: line 3 is odd'],
    [new PhasegateError('path_outside', '`x` leaves the project'), 'path_outside', '`x` leaves the project'],
  ])('a source that cannot be read: %s [S1.74]', async (thrown, code, message) => {
    source = () => {
      throw thrown;
    };

    const { workflow, problems } = await start();

    expect(workflow).toBeNull();
    expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code, message, hint: 'Verify tasks.md follows spec format' },
    ]);
  });

  test('a source without phases [S1.74]', async () => {
    source = () => ({ phases: [], warnings: [] });

    expect(messagesOf(await start(), 'source_parse_failed')).toEqual([
      'Could not parse specs/one: no phase was found in it',
    ]);
  });
});

function start() {
  return project.load(undefined, { params: { spec_path: 'specs/one' }, target: null });
}

async function phaseTexts(): Promise<readonly string[]> {
  const { workflow } = await start();
  return workflow?.phases.map((one) => phaseText(workflow, one)) ?? [];
}

function metadata(more: object): string {
  return JSON.stringify({
    workflow_type: 'demo',
    total_phases: 'dynamic',
    phases: [{ phase_number: 0 }, { phase_number: '1-N', phase_name: 'From the source' }],
    dynamic_phases: true,
    dynamic_config: CONFIG,
    ...more,
  });
}

const WORDS = ['zero', 'one', 'two'];

function phase(id: string, tasks: number): SourcePhase {
  return {
    id,
    name: `Phase ${WORDS[Number(id)] ?? id}`,
    description: `About ${id}`,
    estimatedDuration: '2 days',
    tasks: Array.from({ length: tasks }, (_, index) => ({
      id: `${id}.${index + 1}`,
      name: `Task ${id}.${index + 1}`,
      description: `Describes ${id}.${index + 1}`,
      estimatedTime: '4 hours',
      dependencies: index === 0 ? [] : [`${id}.${index}`, 'Phase 0'],
      acceptanceCriteria: [{ text: `Criterion ${id}.${index + 1}`, checked: index > 0 }],
      status: 'pending',
    })),
    validationGate: [
      { text: 'All green', checked: false },
      { text: 'Reviewed', checked: true },
    ],
  };
}

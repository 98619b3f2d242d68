import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { canonicalJson, type Json, type JsonObject, type Phasegate } from '@phasegate/core';
import { phaseText, taskText } from '@phasegate/core/engine';
import { encodeSubmitted, PLAIN } from '@phasegate/wire';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parserOf } from '../../../markdown/src/folder/fixtures/project.ts';
import { openTestProject } from '../runtime/fixtures/openTestProject.ts';
import type { OpenProject, Project } from '../runtime/ports.ts';

const KB = 1024;
const MB = KB * KB;
const GUIDANCE = 'Work on one task at a time and write down what shows that it is done.\n';
const PHASE_TEMPLATE = '# [PHASE_NUMBER]: [PHASE_NAME]\n\nMUST-DO [PHASE_DESCRIPTION]\n\n[VALIDATION_GATE]\n';
const TASK_TEMPLATE = '# [TASK_ID]: [TASK_NAME]\n\nMUST-DO [TASK_DESCRIPTION]\n\n[ACCEPTANCE_CRITERIA]\n';
const STATICS = ['test_generation_v3', 'production_code_v2'];
const FILES: Readonly<Record<string, string>> = {
  // What others write while a run is under way is not held against it.
  '.gitignore': 'specs/\ndocs/\n',
  'workflows/spec_execution_v1/metadata.json': metadata('spec_tasks_parser'),
  'workflows/spec_execution_v1/phases/0/phase.md': '# Phase 0: Plan\n\nMust provide `phase_count`\n',
  'workflows/spec_execution_v1/phases/0/task-1-read.md': '# Read\n\nRead the spec.\n',
  'workflows/spec_execution_v1/p.md': PHASE_TEMPLATE,
  'workflows/spec_execution_v1/t.md': TASK_TEMPLATE,
  'specs/one/tasks.md': specOf('Foundation', 'Lay the ground.'),
  ...Object.assign({}, ...STATICS.map(documented)),
};

let folder: string;
let root: string;
let project: Project;
let opened: OpenProject;
let agent: Phasegate;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-dynamic-session-'));
  root = join(folder, 'project');
  for (const [path, text] of Object.entries(FILES)) await write(path, text);
  project = await openTestProject({ projectDir: root, env: { XDG_STATE_HOME: join(folder, 'state') } });
  opened = await project.open();
  agent = opened.as({ kind: 'agent', name: 'local' });
});
afterEach(async () => {
  await opened.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a session of a dynamic workflow', () => {
  test('has its workflow, source, templates and phases from the start, each found by its id [S1.17 S1.18 S1.24 S1.78]', async () => {
    await write('specs/two/tasks.md', specOf('Groundwork', 'Dig.'));
    const [one, two] = [await start({ spec_path: 'specs/one' }), await start({ spec_path: 'specs/two' })];
    await rm(join(root, 'specs'), { recursive: true });
    await rm(join(root, 'workflows/spec_execution_v1/p.md'));

    expect(await agent.view(one)).toMatchObject({
      run: one,
      workflow: 'spec_execution_v1',
      params: { spec_path: 'specs/one' },
    });
    expect((await agent.overview(one)).phases).toMatchObject([{ id: 0 }, { name: 'Foundation' }]);
    expect((await agent.overview(two)).phases).toMatchObject([{ id: 0 }, { name: 'Groundwork' }]);
    expect((await planned(one)).next_phase_content).toContain('# 1: Foundation\n\nMUST-DO');
    expect((await fetched(one, 1)).task_content).toContain('# 1.1: Build it\n\nMUST-DO - Lay the ground.');
  });

  test('is told from a static one by what it serves, phase by phase [S1.19 S1.22 S1.39]', async () => {
    const [dynamic, fixed] = [await start({ spec_path: 'specs/one' }), await start({}, STATICS[0])];
    const planning = await fetched(dynamic, 0);
    const plan = (await agent.view(dynamic)).current;
    await planned(dynamic);
    const built = (await agent.view(dynamic)).current;

    expect([planning.source, (await fetched(dynamic, 1)).source]).toEqual(['static', 'dynamic']);
    expect(plan?.dynamic).toBe(false);
    expect(built).toMatchObject({
      name: 'Foundation',
      tasks: [{ number: 1, name: 'Build it' }],
      dynamic: true,
    });
    expect((await agent.view(fixed)).current?.dynamic).toBe(false);
    await expect(agent.view('run-of-nobody')).rejects.toMatchObject({ code: 'run_unknown' });
  });

  test('is read by the parser its project was given, and no other project has it [S1.17 S1.36 S1.37]', async () => {
    const jira = parserOf('jira_api', (path) => ({ phases: [phaseFrom(path)], warnings: [] }));
    await write('workflows/board/metadata.json', metadata('jira_api').replace('spec_execution_v1', 'board'));
    await write('workflows/board/p.md', PHASE_TEMPLATE);
    await write('workflows/board/t.md', TASK_TEMPLATE);
    const other = await openTestProject({
      projectDir: root,
      env: { XDG_STATE_HOME: join(folder, 'other') },
    });

    (await project.sources()).register(jira);
    const run = await start({ spec_path: 'PAY-7' }, 'board');

    expect((await agent.view(run)).current?.content).toContain('# 1: From PAY-7');
    expect((await project.sources()).names()).toEqual(['spec_tasks_parser', 'jira_api']);
    expect((await other.sources()).names()).toEqual(['spec_tasks_parser']);
    await expect(other.catalog.load('board')).rejects.toMatchObject({
      problems: [{ code: 'unknown_parser' }],
    });
  });

  test('renders each phase and each task once: read again and again, they are one text in memory [S1.25 S1.45]', async () => {
    const long = GUIDANCE.repeat(Math.ceil((400 * KB) / GUIDANCE.length));
    await write('workflows/spec_execution_v1/p.md', `${PHASE_TEMPLATE}\n${long}`);
    await write('workflows/spec_execution_v1/t.md', `${TASK_TEMPLATE}\n${long}`);
    const run = await start({ spec_path: 'specs/one' });
    await planned(run);
    const phaseRead = async () => (await agent.view(run)).current?.content ?? '';
    const taskRead = async () => String((await fetched(run, 1)).task_content);

    for (const read of [phaseRead, taskRead]) {
      const first = await read();
      const before = bytesInUse();
      const again = [];
      for (let times = 0; times < 20; times++) again.push(await read());

      expect(first.length).toBeGreaterThan(400 * KB);
      expect(new Set(again)).toEqual(new Set([first]));
      // Twenty texts of their own would be eight megabytes.
      expect(bytesInUse() - before).toBeLessThan(2 * MB);
    }
  });

  test('leaves nothing in memory when it ends, and ending it again is nothing [S1.8 S1.23 S1.42 S1.46 S1.72 S1.78]', async () => {
    const text = 'Every sentence of a large specification is kept for as long as it is worked on.\n  '.repeat(
      6000,
    );
    await write('specs/large/tasks.md', specOf('Large', text));
    const walk = async () => {
      const run = await start({ spec_path: 'specs/large' });
      await planned(run);
      expect(String((await fetched(run, 1)).task_content).length).toBeGreaterThan(400 * KB);
      const answer = await complete(run, 1, { tasks_completed: ['1.1'] });
      expect(answer).toMatchObject({ workflow_complete: true });
      return run;
    };
    const session = async (name: string) => {
      // Another word makes another snapshot, as another specification would.
      await write('specs/large/tasks.md', specOf(name, text));
      return walk();
    };
    // What is loaded, compiled and kept of the last few is there after these, and grows no more.
    for (let times = 0; times < 8; times++) await session(`Before ${times}`);
    const before = bytesInUse();
    let last = '';

    for (let times = 0; times < 10; times++) last = await session(`Large ${times}`);

    expect(bytesInUse() - before).toBeLessThan(2 * MB);
    expect(await agent.view(last)).toMatchObject({ status: 'completed', completedPhases: [0, 1] });
    expect(await agent.phase(last, 1)).toMatchObject({ ok: true, phase: { name: 'Large 9' } });
    const ended = await agent.view(last);
    expect(await complete(last, 1, { tasks_completed: ['1.1'] })).toMatchObject({ error: 'run_ended' });
    await expect(complete('run-of-nobody', 1, {})).rejects.toMatchObject({ code: 'run_unknown' });
    expect(await agent.view(last)).toEqual(ended);
  });

  test('with large templates and long texts stays under 5 MB of memory, all of it rendered [S1.66 S1.67 S1.68 S1.93]', async () => {
    const guidance = GUIDANCE.repeat(Math.ceil((10 * KB) / GUIDANCE.length));
    await write('workflows/spec_execution_v1/p.md', `${PHASE_TEMPLATE}\n${guidance}`);
    await write('workflows/spec_execution_v1/t.md', `${TASK_TEMPLATE}\n${guidance}`);
    await write('specs/large/tasks.md', largeSpec({ phases: 6, tasks: 8, bytes: 25 * KB }));

    const session = async (spec_path: string) => {
      const starting = { params: { spec_path }, target: null };
      const { workflow } = await project.catalog.load('spec_execution_v1', starting);
      const rendered = workflow.phases
        .slice(1)
        .flatMap((phase) => [
          phaseText(workflow, phase),
          ...phase.tasks.map((_, index) => taskText(workflow, phase, index + 1)),
        ]);
      return { workflow, rendered };
    };
    // Code that has not run yet takes memory, too, but not for a session.
    await session('specs/one');
    const before = bytesInUse();
    const { workflow, rendered } = await session('specs/large');
    const used = bytesInUse() - before;

    expect(used).toBeGreaterThan(MB);
    expect(used).toBeLessThan(5 * MB);
    expect(rendered).toHaveLength(6 + 6 * 8);
    expect(Math.min(...rendered.map((text) => text.length))).toBeGreaterThan(20 * KB);
    expect(Math.max(...rendered.map((text) => text.length))).toBeLessThan(50 * KB);
    const kept = [canonicalJson(workflow as unknown as Json), ...rendered];
    expect(kept.reduce((sum, text) => sum + Buffer.byteLength(text), 0)).toBeLessThan(5 * MB);
  });
});

describe('beside dynamic workflows', () => {
  test.each(STATICS)(
    '%s goes on as before, its phases looked up in the documentation [S1.63 S1.81]',
    async (name) => {
      await start({ spec_path: 'specs/one' });
      const run = await start({}, name);

      expect((await agent.view(run)).current).toMatchObject({
        id: 1,
        content: expect.stringContaining(`Count what ${name} needs.`),
        requiredEvidence: { thing_count: { type: 'int' } },
      });
      expect(await agent.phase(run, 2)).toMatchObject({
        ok: false,
        skipped: { message: expect.stringContaining('Cannot access') },
      });
      expect(await complete(run, 1, {})).toMatchObject({ error: 'incomplete_checkpoint' });
      expect(await complete(run, 1, { thing_count: 2 })).toMatchObject({
        next_phase: 2,
        next_phase_content: expect.stringContaining(`Report what ${name} found.`),
      });
      expect(await complete(run, 2, { report_text: 'all of it' })).toMatchObject({ workflow_complete: true });
    },
  );
});

function metadata(parser: string): string {
  return JSON.stringify({
    workflow_type: 'spec_execution_v1',
    dynamic_phases: true,
    dynamic_config: {
      source_type: 'spec_tasks_md',
      source_path_key: 'spec_path',
      templates: { phase: 'p.md', task: 't.md' },
      parser,
    },
  });
}

function documented(name: string): Readonly<Record<string, string>> {
  const page = (phase: number, text: string) =>
    `---\nworkflow: ${name}\nphase: ${phase}\ntags: [checkpoint, evidence]\n---\n\n# Phase ${phase} requirements\n\n${text}\n`;
  return {
    [`workflows/${name}/metadata.json`]: JSON.stringify({ workflow_type: name, total_phases: 2 }),
    [`docs/${name}/1.md`]: page(
      1,
      `Count what ${name} needs.\n\n- Must provide \`thing_count\`, at least one`,
    ),
    [`docs/${name}/2.md`]: page(2, `Report what ${name} found.\n\n- Must provide \`report_text\``),
  };
}

function specOf(name: string, description: string): string {
  return `### Phase 1: ${name}\n\n**Tasks:**\n\n- [ ] **Task 1.1**: Build it\n  - ${description}\n  - **Acceptance Criteria**:\n    - [ ] It is built\n`;
}

function largeSpec({ phases, tasks, bytes }: { phases: number; tasks: number; bytes: number }): string {
  const prose = (indent: string) =>
    `${indent}${GUIDANCE}`.repeat(Math.ceil(bytes / (GUIDANCE.length + indent.length)));
  const task = (phase: number, number: number) =>
    `### Task ${phase}.${number}: Part ${number}\n\n${prose('')}\n**Acceptance Criteria:**\n\n- [ ] It works\n`;
  return Array.from({ length: phases }, (_, index) => {
    const list = Array.from({ length: tasks }, (_, number) => task(index + 1, number + 1)).join('\n');
    return `## Phase ${index + 1}: Step ${index + 1}\n\n**Goal:** ${prose('').replaceAll('\n', ' ')}\n\n${list}`;
  }).join('\n');
}

function phaseFrom(path: string) {
  return {
    id: '1',
    name: `From ${path}`,
    description: '',
    estimatedDuration: '',
    tasks: [],
    validationGate: [],
  };
}

/** After a collection, so that only what is still held counts. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  return getHeapStatistics().used_heap_size;
}

async function start(params: JsonObject, workflow = 'spec_execution_v1'): Promise<string> {
  const { view, verdict } = await agent.start({ workflow, params });
  if (view === null) throw new Error(JSON.stringify(verdict));
  return view.run;
}

/** Does the static phase 0. */
async function planned(run: string): Promise<JsonObject> {
  await fetched(run, 0);
  return complete(run, 0, { phase_count: 1 });
}

async function fetched(run: string, phase: number): Promise<JsonObject> {
  return encodeSubmitted(await agent.submit(run, { kind: 'fetch_task', phase, task: 1 }), PLAIN);
}

async function complete(run: string, phase: number, evidence: JsonObject): Promise<JsonObject> {
  return encodeSubmitted(await agent.submit(run, { kind: 'complete', phase, evidence }), PLAIN);
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

import { mkdtempSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTestProject } from '../runtime/fixtures/openTestProject.ts';
import type { OpenProject, Project } from '../runtime/ports.ts';

let folder: string;
let root: string;
let project: Project;
let opened: OpenProject;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-changed-'));
  root = join(folder, 'project');
  await mkdir(root);
  project = await openTestProject({ projectDir: root, env: { XDG_STATE_HOME: join(folder, 'state') } });
  opened = await project.open();
});
afterEach(async () => {
  await opened.close();
  await rm(folder, { recursive: true, force: true });
});

describe.each(Object.entries(formats()))('a process that started a %s workflow before', (_, format) => {
  test.each(Object.entries(format.parts))(
    'takes up a change of %s at the next start',
    async (_part, part) => {
      const { path, before, after } = part;
      await put(format.files);
      expect(await started(format)).toContain(before);
      const { workflow } = await loaded(format);
      expect((await loaded(format)).workflow).toBe(workflow);

      await swap(path, before, after);

      expect(await started(format)).toContain(after);
    },
  );

  test('takes up every kind of change to its file', async () => {
    const { path, before, after } = Object.values(format.parts)[0] as Part;
    await put(format.files);
    const there = join(root, path);
    await started(format);
    const { atime, mtime } = await stat(there);

    await swap(path, before, after);
    await utimes(there, atime, mtime);
    expect(await started(format)).toContain(after);

    // Back by a file that was made before, with the times of the one it replaces.
    await put({ 'aside/old': String(format.files[path]) });
    await utimes(join(root, 'aside/old'), atime, mtime);
    await rename(join(root, 'aside/old'), there);
    expect(await started(format)).toContain(before);
  });

  test('takes up a folder that was put in the place of its own', async () => {
    const { path, before, after } = Object.values(format.parts)[0] as Part;
    await put(format.files);
    await started(format);
    const top = path.split('/')[0] as string;
    const files = Object.entries(format.files).map(([name, text]) => {
      const inside = name.startsWith(`${top}/`) ? `next/${name.slice(top.length + 1)}` : name;
      return [inside, name === path ? text.replaceAll(before, after) : text] as const;
    });
    await put(Object.fromEntries(files));

    await rename(join(root, top), join(folder, 'old'));
    await rename(join(root, 'next'), join(root, top));

    expect(await started(format)).toContain(after);
  });

  test('says so when its file is gone, and finds it again', async () => {
    const { path, before } = Object.values(format.parts)[0] as Part;
    await put(format.files);
    await started(format);

    await rename(join(root, path), join(folder, 'aside'));
    await expect(started(format)).rejects.toMatchObject({ code: format.gone ?? 'workflow_unknown' });

    await rename(join(folder, 'aside'), join(root, path));
    expect(await started(format)).toContain(before);
  });
});

test('a migration that was changed or added is part of the next start', async () => {
  const format = formats().YAML as Format;
  await put(format.files);
  const first = await loaded(format);

  await swap('migrations/001_first.sql', 'CHARLIE', 'OMICRON');
  const second = await loaded(format);
  await put({ 'migrations/002_more.sql': 'CREATE TABLE more (id TEXT);' });
  const third = await loaded(format);

  expect(new Set([first, second, third].map(({ closure }) => closure)).size).toBe(3);
  expect(new Set([first, second, third].map(({ hash }) => hash)).size).toBe(3);
  expect(Object.keys(third.workflow.database?.accepted ?? {})).toEqual(['001_first.sql', '002_more.sql']);
});

interface Part {
  readonly path: string;
  readonly before: string;
  /** As long as what it replaces, so that no size changes. */
  readonly after: string;
}

interface Format {
  readonly workflow: string;
  readonly params?: JsonObject;
  readonly gone?: string;
  readonly files: Readonly<Record<string, string>>;
  readonly parts: Readonly<Record<string, Part>>;
}

/** A workflow in each format; the first part is in the file that is listed. */
function formats(): Readonly<Record<string, Format>> {
  const yaml = [
    'workflow: flow',
    'title: ALPHA',
    'phases:',
    '  A:',
    '    instructions: Do it.',
    '    required_artifacts: [{ type: notes, schema: ./notes.json }]',
  ];
  const code = [
    "import { defineWorkflow } from '@phasegate/sdk';",
    "import { WORDS } from './words.ts';",
    "import { more } from 'more';",
    'export default defineWorkflow({',
    "  type: 'flow', name: 'ALPHA', initialStep: 'a',",
    '  steps: [{ name: "a", instructions: [WORDS, more].join(" "),',
    '    postconditions: [{ name: "x", check: () => true, error: "no" }] }],',
    '});',
  ];
  const metadata = { workflow_type: 'flow', title: 'ALPHA', total_phases: 1 };
  const dynamic = {
    workflow_type: 'flow',
    title: 'ALPHA',
    dynamic_phases: true,
    dynamic_config: {
      source_type: 'spec_tasks',
      source_path_key: 'spec',
      templates: { phase: 'p.md', task: 't.md' },
      parser: 'spec_tasks_parser',
    },
  };
  const database = 'database: { file: data/app.db, migrations: migrations }';
  return {
    YAML: {
      workflow: 'flow',
      files: {
        'workflows/flow.workflow.yaml': [...yaml, database].join('\n'),
        'workflows/notes.json': '{ "type": "object", "description": "BRAVO" }',
        'migrations/001_first.sql': 'CREATE TABLE first (CHARLIE TEXT);',
      },
      parts: {
        'its file': { path: 'workflows/flow.workflow.yaml', before: 'ALPHA', after: 'OMEGA' },
        'a schema': { path: 'workflows/notes.json', before: 'BRAVO', after: 'OMEGA' },
      },
    },
    TypeScript: {
      workflow: 'flow',
      files: {
        'workflows/flow.workflow.ts': code.join('\n'),
        'workflows/words.ts': "export const WORDS: string = 'BRAVO';",
        'node_modules/more/package.json': '{ "name": "more", "type": "module", "exports": "./index.js" }',
        'node_modules/more/index.js': "export const more = 'DELTA';",
      },
      parts: {
        'its file': { path: 'workflows/flow.workflow.ts', before: 'ALPHA', after: 'OMEGA' },
        'an import': { path: 'workflows/words.ts', before: 'BRAVO', after: 'OMEGA' },
        'a package': { path: 'node_modules/more/index.js', before: 'DELTA', after: 'OMEGA' },
      },
    },
    Markdown: {
      workflow: 'flow',
      files: {
        'workflows/flow/metadata.json': JSON.stringify(metadata),
        'workflows/flow/phases/0/phase.md': '# Phase 0: BRAVO\n\nMust provide `count`\n',
        'workflows/flow/phases/0/task-1-read.md': '# Read\n\nRead the CHARLIE.\n',
      },
      parts: {
        'its metadata': { path: 'workflows/flow/metadata.json', before: 'ALPHA', after: 'OMEGA' },
        'a phase': { path: 'workflows/flow/phases/0/phase.md', before: 'BRAVO', after: 'OMEGA' },
        'a task': { path: 'workflows/flow/phases/0/task-1-read.md', before: 'CHARLIE', after: 'OMICRON' },
      },
    },
    dynamic: {
      workflow: 'flow',
      params: { spec: 'specs/one' },
      files: {
        'workflows/flow/metadata.json': JSON.stringify(dynamic),
        'workflows/flow/p.md':
          '# [PHASE_NUMBER]: [PHASE_NAME]\n\nBRAVO [PHASE_DESCRIPTION]\n\n[VALIDATION_GATE]\n',
        'workflows/flow/t.md':
          '# [TASK_ID]: [TASK_NAME]\n\nDELTA [TASK_DESCRIPTION]\n\n[ACCEPTANCE_CRITERIA]\n',
        'specs/one/tasks.md':
          '# Tasks\n\n## Phase 1: CHARLIE\n\n- [ ] **Task 1.1**: Lay the ground\n  - **Acceptance Criteria**:\n    - [ ] it is laid\n',
      },
      parts: {
        'its metadata': { path: 'workflows/flow/metadata.json', before: 'ALPHA', after: 'OMEGA' },
        'a template': { path: 'workflows/flow/p.md', before: 'BRAVO', after: 'OMEGA' },
        'its source': { path: 'specs/one/tasks.md', before: 'CHARLIE', after: 'OMICRON' },
      },
    },
  };
}

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function swap(path: string, before: string, after: string): Promise<void> {
  await writeFile(join(root, path), (await readFile(join(root, path), 'utf8')).replaceAll(before, after));
}

function loaded({ workflow, params = {} }: Format) {
  return project.catalog.load(workflow, { params, target: null });
}

/** The workflow a new run keeps, as text. */
async function started({ workflow, params = {} }: Format): Promise<string> {
  const agent = opened.as({ kind: 'agent', name: 'local' });
  const { view } = await agent.start({ workflow, params });
  return JSON.stringify((await opened.load(String(view?.run))).workflow);
}

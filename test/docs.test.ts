import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { graphOf } from '@phasegate/core';
import { expect, test } from 'vitest';
import {
  PHASE_PLACEHOLDERS,
  TASK_PLACEHOLDERS,
} from '../packages/phasegate/src/loaders/markdown/templates.ts';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';
import { toSvg } from '../packages/phasegate/src/surfaces/cli/graph/svg.ts';
import { checksPage } from './docs/checksPage.ts';
import { commandsPage } from './docs/commandsPage.ts';
import { type Snippet, snippetsIn } from './docs/snippetsIn.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GUIDES = readdirSync(join(ROOT, 'docs/guide')).filter((name) => name.endsWith('.md'));
const WITH_WORKFLOWS = ['README.md', ...GUIDES.map((name) => `docs/guide/${name}`)];

const shown = WITH_WORKFLOWS.flatMap((page) =>
  snippetsIn(read(page)).map((snippet) => ({ page, ...snippet })),
);

test.each(shown)('the workflow at $page:$line is valid', async (snippet) => {
  expect(await problemsOf(snippet)).toEqual([]);
});

test('README and guide show whole workflows in both languages', () => {
  for (const page of ['README.md', 'docs/guide/workflows.md']) {
    const languages = shown.filter((snippet) => snippet.page === page).map(({ language }) => language);

    expect(languages).toEqual(expect.arrayContaining(['yaml', 'ts']));
  }
});

test('a block that is no whole workflow is left alone', () => {
  const markdown = '```yaml\ngates: {}\n```\n\n```ts\nconst one = 1;\n```\n\n```yaml\nworkflow: a\n```\n';

  expect(snippetsIn(markdown)).toEqual([{ language: 'yaml', text: 'workflow: a\n', line: 9 }]);
});

test('a workflow in a document that is not valid is found', async () => {
  const snippet: Snippet = { language: 'yaml', text: 'workflow: a\nphases: { A: { next: B } }\n', line: 1 };

  expect(await problemsOf(snippet)).toEqual([expect.stringContaining('`B`')]);
});

test('the guide says all that makes a workflow dynamic, and an example shows it [S1.83]', () => {
  const guide = read('docs/guide/markdown-workflows.md');
  const config = JSON.parse(read('examples/spec-execution/workflows/spec_execution_v1/metadata.json'));

  for (const name of [...PHASE_PLACEHOLDERS, ...TASK_PLACEHOLDERS]) expect(guide).toContain(`[${name}]`);
  for (const key of ['dynamic_phases', ...Object.keys(config.dynamic_config)]) expect(guide).toContain(key);
  expect(read('examples/README.md')).toContain('(spec-execution/README.md)');
  expect(read('ARCHITECTURE.md')).toContain('tasks.md');
});

test('docs/reference/commands.md says what the commands say of themselves', async () => {
  const renew = 'docs/reference/commands.md is stale: run `npx node test/docs/writeCommands.ts`';

  expect(read('docs/reference/commands.md') === (await commandsPage()), renew).toBe(true);
});

test('docs/reference/checks.md says what the checks say of themselves', () => {
  const renew = 'docs/reference/checks.md is stale: run `npx node test/docs/writeChecks.ts`';

  expect(read('docs/reference/checks.md') === checksPage(), renew).toBe(true);
});

test('docs/tdd.svg is what `graph` draws of examples/tdd', async () => {
  const renew =
    'docs/tdd.svg is stale: run `npm run build && npx phasegate graph tdd --project examples/tdd --format svg --output docs/tdd.svg`';
  const { catalog } = await openLocalProject({ projectDir: join(ROOT, 'examples/tdd'), env: process.env });

  const { workflow } = await catalog.load('tdd');

  expect(read('docs/tdd.svg') === (await toSvg(graphOf(workflow))), renew).toBe(true);
});

test.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...pagesIn('docs')])(
  'every link of %s leads to a file that is there',
  (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map(
      ([, to = '']) => to,
    );
    const missing = links.filter((to) => !existsSync(join(ROOT, page, '..', to)));

    expect(missing).toEqual([]);
  },
);

/** Every error the real catalog finds, as `validate` prints them. */
async function problemsOf({ language, text }: Snippet): Promise<readonly string[]> {
  const project = mkdtempSync(join(tmpdir(), 'phasegate-docs-'));
  try {
    writeFileSync(join(project, language === 'yaml' ? 'shown.workflow.yaml' : 'shown.workflow.ts'), text);
    const { catalog } = await openLocalProject({ projectDir: project, env: process.env });
    const { checked, problems } = await catalog.validate([]);
    if (checked.length !== 1) return ['it is not found as a workflow'];
    const errors = problems.filter(({ severity }) => severity === 'error');
    return errors.map(({ line, column, message }) => `${line}:${column}: ${message}`);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { graphOf } from '@phasegate/core/model';
import { checkWorkflow } from '@phasegate/proofs';
import { expect, test } from 'vitest';
import { escapesPage, lastRecord, withTable } from '../bench/escapes/pages.ts';
import { commandPictures } from '../docs/pictures/commandPictures.ts';
import { PHASE_PLACEHOLDERS, TASK_PLACEHOLDERS } from '../packages/markdown/src/folder/templates.ts';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';
import { COMMANDS } from '../packages/phasegate/src/surfaces/cli/commandTable.ts';
import { toSvg } from '../packages/phasegate/src/surfaces/cli/graph/svg.ts';
import { CLIENT_PACKAGES } from './clients/installClients.ts';
import { checksPage } from './docs/checksPage.ts';
import { commandsPage } from './docs/commandsPage.ts';
import { type ConformanceClient, conformancePage } from './docs/conformancePage.ts';
import { followGuide } from './docs/followGuide.ts';
import { type LongRecord, longPage } from './docs/longPage.ts';
import { manPage } from './docs/manPage.ts';
import { referencePage } from './docs/referencePage.ts';
import { type Snippet, snippetsIn } from './docs/snippetsIn.ts';
import { workflowPage } from './docs/workflowPage.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GUIDES = readdirSync(join(ROOT, 'docs/guide')).filter((name) => name.endsWith('.md'));
const WITH_WORKFLOWS = [
  'README.md',
  'docs/reference/workflow-yaml.md',
  ...GUIDES.map((name) => `docs/guide/${name}`),
];

const shown = WITH_WORKFLOWS.flatMap((page) =>
  snippetsIn(read(page)).map((snippet) => ({ page, ...snippet })),
);

test.each(shown)('the workflow at $page:$line is valid', async (snippet) => {
  expect(await problemsOf(snippet)).toEqual([]);
});

test.each(shown.filter(({ page }) => page === 'README.md' || page === 'docs/guide/workflows.md'))(
  '`check` finds no error in the workflow at $page:$line',
  async (snippet) => {
    const found = await inProject(snippet, async ({ catalog }) => {
      const [entry] = await catalog.list();
      const { workflow } = await catalog.load(entry?.id ?? '');
      return checkWorkflow(workflow).findings;
    });

    expect(found.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual([]);
  },
);

test('the TypeScript workflow of the README asks for all that its check reads', async () => {
  const [snippet] = shown.filter(({ page, language }) => page === 'README.md' && language === 'ts');
  const asked = await inProject(snippet as Snippet, async ({ catalog }) => {
    const { workflow } = await catalog.load('editing');
    return workflow.phases.find(({ id }) => id === 'review')?.evidence.fields.map(({ name }) => name);
  });

  expect(asked).toEqual(['decision', 'filesRead']);
});

test('README and guide show whole workflows in both languages', () => {
  for (const page of ['README.md', 'docs/guide/workflows.md']) {
    const languages = shown.filter((snippet) => snippet.page === page).map(({ language }) => language);

    expect(languages).toEqual(expect.arrayContaining(['yaml', 'ts']));
  }
});

test('a block that is not a whole workflow is left alone', () => {
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

test('the man page says what the commands say of themselves, and man can read it', async () => {
  const renew = 'packages/phasegate/man/phasegate.1 is stale: run `npx node test/docs/writeMan.ts`';
  const page = read('packages/phasegate/man/phasegate.1');

  expect(page === (await manPage()), renew).toBe(true);
  expect(page).toMatch(/^[\n -~]*$/);
  for (const { name } of COMMANDS) expect(page).toContain(`\n.SS ${name}\n`);
  // Every line that begins with a dot is an order that man knows.
  const orders = page.split('\n').flatMap((line) => /^[.']\S*/.exec(line) ?? []);
  const known = [
    '.\\"',
    '.TH',
    '.SH',
    '.SS',
    '.PP',
    '.TP',
    '.IP',
    '.B',
    '.I',
    '.RI',
    '.RS',
    '.RE',
    '.nf',
    '.fi',
    '.br',
  ];
  expect([...new Set(orders)].filter((order) => !known.includes(order))).toEqual([]);
  expect(JSON.parse(read('packages/phasegate/package.json'))).toMatchObject({
    man: ['man/phasegate.1'],
    files: expect.arrayContaining(['man']),
  });
});

test('the pictures of commands are what the commands print, need nothing from elsewhere, and stand in the guide', async () => {
  const guide = GUIDES.map((name) => read(`docs/guide/${name}`)).join('\n');
  const renew = 'is stale: run `npx node docs/pictures/writeCommands.ts`';

  for (const [name, picture] of Object.entries(await commandPictures())) {
    const svg = read(`docs/pictures/${name}`);
    expect(svg === picture, `docs/pictures/${name} ${renew}`).toBe(true);
    expect(svg).not.toMatch(/<script|<image|href|url\(|@import/);
    expect(svg).toContain('@media (prefers-color-scheme:dark)');
    expect(guide).toContain(`../pictures/${name}`);
  }
});

test('docs/reference/checks.md says what the checks say of themselves', () => {
  const renew = 'docs/reference/checks.md is stale: run `npx node test/docs/writeChecks.ts`';

  expect(read('docs/reference/checks.md') === checksPage(), renew).toBe(true);
});

test('docs/reference/workflow-yaml.md says what the schema says, with an example for each phase [S2.85 S2.102]', () => {
  const renew = 'docs/reference/workflow-yaml.md is stale: run `npx node test/docs/writeWorkflow.ts`';

  const page = workflowPage();

  expect(read('docs/reference/workflow-yaml.md') === page, renew).toBe(true);
  for (const phase of ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']) expect(page).toContain(`### ${phase}\n`);
});

test('docs/reference/api.md says what the OpenAPI document says [S2.103]', () => {
  const renew = 'docs/reference/api.md is stale: run `npx node test/docs/writeApi.ts`';

  expect(read('docs/reference/api.md') === referencePage(), renew).toBe(true);
});

test('docs/reference/long-tests.md says how the long tier ended last', () => {
  const record = JSON.parse(read('test/docs/long.json')) as LongRecord;
  const renew = 'docs/reference/long-tests.md is stale: run `npm run test:long`';

  expect(read('docs/reference/long-tests.md') === longPage(record), renew).toBe(true);
});

test('the page about real clients is what their proofs said, of the versions that are tested', () => {
  const clients = JSON.parse(read('test/docs/conformance.json')) as readonly ConformanceClient[];
  const renew = 'docs/reference/conformance.md is stale: run `npm run conformance:clients`';

  expect(read('docs/reference/conformance.md') === conformancePage(clients), renew).toBe(true);
  const { 'tdd-guard': _peer, ...packages } = CLIENT_PACKAGES;
  expect(Object.fromEntries(clients.map(({ client, version }) => [client, version])), renew).toEqual(
    Object.fromEntries(
      Object.entries(packages).map(([name, wanted]) => [name, wanted.slice(wanted.lastIndexOf('@') + 1)]),
    ),
  );
});

test('the page about escapes and the table of the README are what the benchmark found, of the versions that are tested', () => {
  const record = lastRecord();
  const renew = 'docs/reference/escapes.md is stale: run `npm run bench:escapes -- --write`';

  expect(read('docs/reference/escapes.md') === escapesPage(record), renew).toBe(true);
  expect(read('README.md') === withTable(read('README.md'), record), renew).toBe(true);
  const found = record.clients.map(({ client, version }) => [client, version]);
  const versions = { ...Object.fromEntries(found), 'tdd-guard': record.tddGuard };
  expect(versions, renew).toEqual(
    Object.fromEntries(
      Object.entries(CLIENT_PACKAGES).map(([name, wanted]) => [
        name,
        wanted.slice(wanted.lastIndexOf('@') + 1),
      ]),
    ),
  );
  for (const { client, guards } of record.clients)
    for (const { guard, control } of guards) expect(control, `${client}, ${guard}: honest work`).toBeNull();
});

test('anyone who follows the guide to agents has one that works through its queue [S2.100 S2.101]', async () => {
  const { lines, statuses } = await followGuide(read('docs/guide/agents.md'));

  const walk = (topic: string) => [`${topic} DRAFT -> REVIEW`, `${topic} REVIEW -> completed`];
  expect(lines).toEqual(['tides', 'moss', 'glass'].flatMap(walk));
  expect(statuses).toEqual(['completed', 'completed', 'completed']);
});

test('a step as text is what the guide says it is: `StepDef`, `actions`, `body` and `formatOutput`', async () => {
  const guide = read('docs/guide/workflows.md');
  const workflow = snippetsIn(guide).find(({ text }) => text.includes("Workflow('findings'"))?.text ?? '';
  const [, script = '', printed = ''] =
    /^```js\n(import \{ formatOutput[\s\S]*?)^```\n+^```text\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-docs-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'findings.workflow.ts'), workflow);
  writeFileSync(join(folder, 'print.mjs'), script);

  const { stdout } = await promisify(execFile)(process.execPath, ['print.mjs'], { cwd: folder });

  expect(stdout).toBe(printed);
  expect(workflow).toContain('StepDef({');
  expect(workflow).toContain('actions: [');
});

test('the architecture is drawn: who talks to whom, and every room [S2.104]', () => {
  const page = read('ARCHITECTURE.md');
  const { rooms } = JSON.parse(read('layers.json')) as { rooms: Record<string, unknown> };

  expect(page).toContain('```mermaid\nflowchart');
  expect(page).toContain('```mermaid\nsequenceDiagram');
  for (const room of Object.keys(rooms)) {
    const name = room.split('/').at(-1) ?? room;
    if (!['phasegate', 'ground', 'templates'].includes(name)) expect(page).toContain(name);
  }
});

test('the rollout guide names every metric there is, among them the gate pass rate, and no other [S2.76 S2.90]', () => {
  const guide = read('docs/guide/rollout.md');
  const source = read('packages/phasegate/src/surfaces/rest/metrics.ts');
  const names = (text: string) => [...new Set(text.match(/\bphasegate_[a-z_]+/g))].sort();

  expect(names(guide)).toEqual(names(source));
  expect(guide).toContain('sum(rate(phasegate_transitions_total{verdict="allowed"}');
});

test('the workflow of the migration guide holds as it is, permissive, and when it is made strict [S2.89]', async () => {
  const [workflow] = snippetsIn(read('docs/guide/migration.md'));
  const text = workflow?.text ?? '';

  expect(text).toContain('mode: permissive');
  expect(await problemsOf({ language: 'yaml', text: text.replace('permissive', 'strict'), line: 1 })).toEqual(
    [],
  );
});

test('docs/tdd.svg is what `graph` draws of examples/tdd', async () => {
  const renew =
    'docs/tdd.svg is stale: run `npm run build && npx phasegate graph tdd --project examples/tdd --format svg --output docs/tdd.svg`';
  const { catalog } = await openLocalProject({ projectDir: join(ROOT, 'examples/tdd'), env: process.env });

  const { workflow } = await catalog.load('tdd');

  expect(read('docs/tdd.svg') === toSvg(graphOf(workflow)), renew).toBe(true);
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

test.each(pagesIn('docs'))('every place %s points to inside of a page is a heading of it', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];

  const missing = links.filter(([, to = '', anchor = '']) => {
    const target = to === '' ? page : join(page, '..', to);
    return target.endsWith('.md') && !anchorsOf(read(target)).includes(anchor);
  });

  expect(missing.map(([link]) => link)).toEqual([]);
});

/** Every error the real catalog finds, as `validate` prints them. */
function problemsOf(snippet: Snippet): Promise<readonly string[]> {
  return inProject(snippet, async ({ catalog }) => {
    const { checked, problems } = await catalog.validate([]);
    if (checked.length !== 1) return ['it is not found as a workflow'];
    const errors = problems.filter(({ severity }) => severity === 'error');
    return errors.map(({ line, column, message }) => `${line}:${column}: ${message}`);
  });
}

type Project = Awaited<ReturnType<typeof openLocalProject>>;

/** What is seen in a project that holds the workflow and nothing else. */
async function inProject<T>({ language, text }: Snippet, look: (project: Project) => Promise<T>): Promise<T> {
  const project = mkdtempSync(join(tmpdir(), 'phasegate-docs-'));
  try {
    writeFileSync(join(project, language === 'yaml' ? 'shown.workflow.yaml' : 'shown.workflow.ts'), text);
    return await look(await openLocalProject({ projectDir: project, env: process.env }));
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** The anchors GitHub gives the headings of a page. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { someOf } from '../../../../test/tier.ts';
import { makeShell, type Shell } from '../surfaces/cli/fixtures/callCli.ts';
import { callTest } from '../surfaces/cli/fixtures/testCommand.ts';
import { DEFAULT_TEMPLATE, LAYOUTS, TEMPLATES, type Template } from './index.ts';

/** A project of each kind, by the file that says how it is tested. */
const KINDS = {
  javascript: { 'package.json': '{ "scripts": { "test": "node --test" } }' },
  typescript: { 'package.json': '{ "scripts": { "test": "vitest" } }', 'tsconfig.json': '{}' },
  python: { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
  go: { 'go.mod': 'module slugs\n' },
  rust: { 'Cargo.toml': '[package]\n' },
  other: { Makefile: 'test:\n\t./run-tests\n' },
} as const satisfies Readonly<Record<keyof typeof LAYOUTS, Readonly<Record<string, string>>>>;

/** What a workflow that takes phases from a source is started with. */
const STARTED_WITH: Readonly<Record<string, readonly string[]>> = {
  spec: ['--param', 'spec_path=specs/example'],
};

describe.each(TEMPLATES)('the template `$name`', (template) => {
  const { name, workflow } = template;

  test('is a workflow without a problem, a finding or a note', async () => {
    const shell = await begun(template);

    const validated = await shell.call(['validate']);
    const checked = await shell.call(['check', workflow, '--json', ...(STARTED_WITH[name] ?? [])]);

    expect(validated).toMatchObject({ code: 0 });
    expect(validated.stderr.split('\n').filter((line) => line.includes('error'))).toEqual([]);
    expect(checked.json()).toMatchObject({ clean: true, findings: [] });
  });

  test.each(someOf(Object.keys(KINDS) as (keyof typeof KINDS)[], { quick: 1, full: 6 }))(
    'has contract tests that pass in a project of the kind %s, and show all that can be seen of it',
    async (kind) => {
      const shell = await begun(template, KINDS[kind]);

      const { code, stdout, stderr } = await callTest(shell, [workflow, '--coverage', '--min', '100']);

      expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
      expect(stdout).toContain('100% by tests');
    },
    60_000,
  );

  test('has a README that says what is claimed and what an exit code cannot tell', async () => {
    const shell = await begun(template);
    const files = [...template.definition(NODE), ...template.beside(NODE)];

    const readme = files.find(
      ({ path }) => path.endsWith('.md') && /^# .*\n\nWritten by/u.test(read(shell, path)),
    );

    const text = read(shell, readme?.path ?? '');
    expect(text).toContain('## What is only claimed');
    if (!template.runsTests) return expect(text).toContain('runs no tests');
    expect(text).toContain('## What a report cannot tell');
    expect(text).toContain('## Where the tests are run');
    expect(text).toContain('`npm test`');
    expect(text).not.toContain('a build error looks like red');
  });

  test('tells an editor its schema, at a place that is there once the package is installed', () => {
    const file = template.definition(NODE).find(({ path }) => path.endsWith('.yaml'));
    if (file === undefined) return;

    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/u.exec(file.text) ?? [];

    const inPackage = join(dirname(file.path), schema).replace(/^node_modules\/phasegate\//u, '../../');
    expect(inPackage).toMatch(/^\.\.\/\.\.\/schemas\//u);
    expect(existsSync(fileURLToPath(new URL(inPackage, import.meta.url)))).toBe(true);
  });
});

test('the default is the five phases of a test-driven change, the same as in the demo [S2.32]', async () => {
  const [template] = TEMPLATES as [Template];
  const demo = new URL('../../../../examples/tdd/agent_workflow.yaml', import.meta.url);
  const phasesOf = (text: string) =>
    [...text.slice(text.indexOf('\nphases:')).matchAll(/^ {2}([A-Z]+):$/gm)].map(([, id]) => id);

  expect(template.name).toBe(DEFAULT_TEMPLATE);
  const [{ text = '' } = {}] = template.definition(NODE);
  expect(phasesOf(text)).toEqual(['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']);
  expect(phasesOf(readFileSync(demo, 'utf8'))).toEqual(phasesOf(text));
});

test.each(['python', 'rust', 'javascript'] as const)(
  'what tests leave behind is in the scope of every phase that runs them: %s',
  (kind) => {
    const tests = { command: 'run tests', report: null, red: [1], layout: LAYOUTS[kind] };
    const cache = { python: 'tests/**/__pycache__/**', rust: 'target/**', javascript: 'coverage/**' }[kind];

    for (const template of TEMPLATES.filter(({ runsTests }) => runsTests)) {
      const [{ text = '' } = {}] = template.definition(tests).filter((file) => file.text.includes('run'));
      const phases = text.split(/^ {2}(?=[A-Z]+:$)/mu).filter((part) => /gates?:.*(?:red|green)/u.test(part));
      for (const phase of phases) {
        const writes = /^ {4}writes: (.*)$/mu.exec(phase)?.[1] ?? '';
        expect(`${template.name} ${phase.slice(0, 12)} ${writes}`).toMatch(
          writes.includes('tests/**"') && kind === 'python' ? '.pytest_cache/**' : cache,
        );
      }
    }
  },
);

const NODE = {
  command: 'npm test',
  report: ['node', '--test', '--test-reporter=tap'],
  red: [1, 2],
  layout: LAYOUTS.javascript,
};

async function begun(
  template: Template,
  files: Readonly<Record<string, string>> = KINDS.javascript,
): Promise<Shell> {
  const shell = makeShell(files);
  const { code, stderr } = await shell.call(['init', '--yes', '--template', template.name]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return shell;
}

function read(shell: Shell, path: string): string {
  return readFileSync(join(shell.root, path), 'utf8');
}

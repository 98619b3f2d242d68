import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { knownChecks } from '../checks/index.ts';
import { createYamlLoader } from '../loaders/yaml/yamlLoader.ts';
import { makeShell } from '../surfaces/cli/fixtures/callCli.ts';
import { callTest } from '../surfaces/cli/fixtures/testCommand.ts';
import { DEFAULT_TEMPLATE, TEMPLATES } from './index.ts';

test.each(TEMPLATES)(
  'the template `$name` is a workflow without a problem or a note',
  async ({ workflow, path, text }) => {
    const root = mkdtempSync(join(tmpdir(), 'phasegate-template-'));
    writeFileSync(join(root, path), text);

    const loaded = await createYamlLoader({ known: { checks: knownChecks() } }).load({ root, path });

    expect(loaded.problems).toEqual([]);
    expect(loaded.workflow?.id).toBe(workflow);
  },
);

test.each(TEMPLATES)(
  'nothing is wrong with the template `$name`: `check` says so',
  async ({ name, workflow }) => {
    const shell = makeShell({});
    await shell.call(['init', '--yes', '--template', name]);

    const { code, stdout } = await shell.call(['check', workflow]);

    expect({ code, stdout }).toMatchObject({ code: 0 });
  },
);

test('the default is the five phases of a test-driven change [S2.32]', async () => {
  const { text } = TEMPLATES.find(({ name }) => name === DEFAULT_TEMPLATE) ?? { text: '' };

  expect([...text.matchAll(/^ {2}([A-Z]+):$/gm)].map(([, id]) => id)).toEqual([
    'PLAN',
    'TDD',
    'IMPL',
    'REVIEW',
    'COMPLETE',
  ]);
});

test.each(TEMPLATES)(
  'the contract tests of the template `$name` pass, and show all that can be seen of it',
  async ({ name, workflow }) => {
    const shell = makeShell({});
    await shell.call(['init', '--yes', '--template', name]);

    const { code, stdout } = await callTest(shell, [workflow, '--coverage', '--min', '100']);

    expect(stdout).toContain('100% by tests');
    expect(code, stdout).toBe(0);
  },
  60_000,
);

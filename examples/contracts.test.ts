import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';
import { testLocalWorkflow } from '../packages/phasegate/src/localTests.ts';
import { someOf } from '../test/tier.ts';

/** Folders without workflows that work, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  flawed: 'each of its workflows has a flaw that `phasegate check` must find',
};

const FOLDERS = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !Object.hasOwn(LEFT_OUT, entry.name))
  .map(({ name }) => name);

describe.each(someOf(FOLDERS, { quick: 2, full: FOLDERS.length }))('%s', (folder) => {
  test('each of its workflows passes all its tests, among them contract tests [S4.58 S4.83]', async () => {
    const projectDir = fileURLToPath(new URL(`./${folder}`, import.meta.url));
    const project = await openLocalProject({ projectDir, env: process.env });
    const listed = await project.catalog.list();

    expect(listed.length).toBeGreaterThan(0);
    for (const { id: workflow } of listed) {
      const request = { project, workflow, filter: null, category: null, environment: process.env };
      const signal = new AbortController().signal;
      const results = await testLocalWorkflow({ ...request, signal, report: () => undefined });

      expect(results.filter(({ status }) => status === 'failed')).toEqual([]);
      const kinds = new Set(
        results.filter(({ status }) => status === 'passed').map(({ category }) => category),
      );
      expect([...kinds], workflow).toEqual(
        expect.arrayContaining(['import', 'structure', 'steps', 'contract']),
      );
    }
  });
});

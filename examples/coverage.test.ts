import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startCoverage } from '@phasegate/proofs';
import { describe, expect, test } from 'vitest';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';
import { testLocalWorkflow } from '../packages/phasegate/src/localTests.ts';
import { countingTests } from '../packages/phasegate/src/surfaces/cli/gatherCoverage.ts';
import { someOf } from '../test/tier.ts';

/** Folders without workflows that work, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  flawed: 'each of its workflows has a flaw that `phasegate check` must find',
};

/** What the contract tests of a workflow do not show, by its name in `phasegate coverage`, each with the reason. */
const NEVER_SEEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

const FOLDERS = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !Object.hasOwn(LEFT_OUT, entry.name))
  .map(({ name }) => name);

describe.each(someOf(FOLDERS, { quick: 3, full: FOLDERS.length }))('%s', (folder) => {
  test('its contract tests pass and show everything that can be seen of each of its workflows', async () => {
    const projectDir = fileURLToPath(new URL(`./${folder}`, import.meta.url));
    const project = await openLocalProject({ projectDir, env: process.env });
    const listed = await project.catalog.list();

    expect(listed.length).toBeGreaterThan(0);
    for (const { id } of listed) {
      const { workflow, hash, path } = await project.catalog.load(id);
      const tally = startCoverage({ workflow, hash });
      const results = await testLocalWorkflow({
        project,
        workflow: path,
        category: 'contract',
        filter: null,
        environment: process.env,
        signal: new AbortController().signal,
        report: () => undefined,
        ...countingTests(tally),
      });
      const { elements, counted, otherVersions, unreadable } = tally.result();
      const unseen = elements
        .filter(({ tests }) => tests === 0)
        .map(({ name, verb }) => `${name}: no test ${verb}`);

      expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
      expect(unseen).toEqual(Object.keys(NEVER_SEEN[id] ?? {}));
      expect(counted.tests).toBeGreaterThan(0);
      expect([otherVersions.tests, unreadable.tests]).toEqual([0, 0]);
    }
  });
});

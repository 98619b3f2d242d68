import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkWorkflow, type FindingCode } from '@phasegate/proofs';
import { describe, expect, test } from 'vitest';
import { openLocalProject } from '../packages/phasegate/src/localProject.ts';
import type { Project, StartingWith } from '../packages/phasegate/src/runtime/ports.ts';

/** What a workflow that takes phases from a source is started with. */
const STARTED_WITH: Readonly<Record<string, StartingWith>> = {
  spec_execution_v1: { params: { spec_path: 'specs/payments-retry' }, target: null },
};

const FOLDERS = readdirSync(fileURLToPath(new URL('.', import.meta.url)), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'flawed')
  .map(({ name }) => name);

describe.each(FOLDERS)('the example %s', (folder) => {
  test('passes `check`: every state of all its workflows was walked and nothing is wrong [S4.59]', async () => {
    const { catalog } = await open(folder);
    const entries = await catalog.list();

    expect(entries).not.toEqual([]);
    for (const { id } of entries) {
      const report = checkWorkflow((await catalog.load(id, STARTED_WITH[id])).workflow);

      expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(report.bound).toBeNull();
      expect(report.findings.map(({ code }) => code)).not.toContain<FindingCode>('source_not_read');
    }
  });
});

test('the phases of a source are walked when it is named, and a note says so when it is not', async () => {
  const { catalog } = await open('spec-execution');

  const fixed = checkWorkflow((await catalog.load('spec_execution_v1')).workflow);
  const started = checkWorkflow(
    (await catalog.load('spec_execution_v1', STARTED_WITH.spec_execution_v1)).workflow,
  );

  expect(fixed).toMatchObject({ clean: true, findings: [{ code: 'source_not_read', severity: 'note' }] });
  expect(started.clean).toBe(true);
  expect(started.states).toBeGreaterThan(fixed.states);
});

test('the examples that rest on the word of an agent alone are named', async () => {
  const named = new Map<string, readonly unknown[]>();
  for (const folder of FOLDERS) {
    const { catalog } = await open(folder);
    for (const { id } of await catalog.list()) {
      const { findings } = checkWorkflow((await catalog.load(id, STARTED_WITH[id])).workflow);
      const claims = findings.filter(({ code }) => code === 'claims_alone');
      named.set(
        id,
        claims.filter(({ message }) => message.startsWith('a run gets')).flatMap(({ phases }) => phases),
      );
    }
  }

  expect(Object.fromEntries(named)).toEqual({
    tdd: [],
    w1_editing: [],
    change: ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'],
    spec_execution_v1: [0, 1, 2, 3, 4],
    test_generation_v3: [1, 2, 3, 4, 5, 6, 7, 8],
  });
});

function open(folder: string): Promise<Project> {
  return openLocalProject({ projectDir: fileURLToPath(new URL(folder, import.meta.url)), env: process.env });
}

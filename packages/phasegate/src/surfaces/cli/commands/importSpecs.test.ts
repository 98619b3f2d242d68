import { join } from 'node:path';
import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';
import { importInto, walkImported } from '../fixtures/walkImported.ts';

const FIXTURES = join(import.meta.dirname, '../../../loaders/import/fixtures');

const SPECS = [
  {
    folder: 'photo-albums',
    kind: 'spec-kit-tasks',
    phases: ['spec', 'phase-1', 'phase-2', 'accept'],
    waited: ['spec', 'phase-1', 'phase-2', 'accept'],
    accepted: ['User Story 1 - See albums (Priority: P1)', 'FR-001'],
  },
  {
    folder: 'login',
    kind: 'kiro-spec',
    phases: ['spec', 'phase-1', 'phase-2', 'phase-3', 'accept'],
    waited: ['spec', 'phase-3', 'accept'],
    accepted: ['Requirement 1: Sign in'],
  },
  {
    folder: 'add-export',
    kind: 'openspec-change',
    phases: ['spec', 'phase-1', 'phase-2', 'accept'],
    waited: ['spec', 'accept'],
    accepted: ['added: Requirement: Export as CSV'],
  },
];

test.each(SPECS)('$kind is walked to its end and holds at every phase', async (expected) => {
  const imported = await importInto(join(FIXTURES, expected.folder));
  expect(imported.report).toMatchObject({ kind: expected.kind, workflow: expected.folder });

  const walked = await walkImported(imported);

  expect(walked).toMatchObject({ status: 'completed', phases: expected.phases, waited: expected.waited });
  expect(walked.refused).toEqual({
    skipped: expected.phases.slice(0, -1),
    empty: expected.phases,
    unapproved: expected.waited,
  });
  const accept = (own(imported.contract, 'phases') as { tasks: { name: string }[] }[]).at(-1);
  expect(accept?.tasks.map(({ name }) => name)).toEqual(expected.accepted);
});

test('the evidence of a phase names every task of its part of the list', async () => {
  const { contract } = await importInto(join(FIXTURES, 'login'));
  const [, , second] = own(contract, 'phases') as object[];
  expect(second).toMatchObject({
    required_artifacts: [{ type: 'phase_2_tasks', schema: { required: ['2.1', '2.2'] } }],
    tasks: [
      { name: '2.1 Compare the hash', acceptance_criteria: ['Take the same time for all'] },
      { name: '2.2 Write unit tests' },
    ],
  });
});

test('ticks, optional tasks, prose and files that are not read are all in the report with their lines', async () => {
  const kiro = (await importInto(join(FIXTURES, 'login'))).report;
  const line = (report: object, list: string, number: number, file = 'tasks.md') =>
    (own(report as never, list) as unknown as { file: string; line: number; text: string }[]).find(
      (key) => key.line === number && key.file.endsWith(file),
    )?.text;
  expect(line(kiro, 'mapped', 3)).toContain('ticked there');
  expect(line(kiro, 'mapped', 10)).toContain('optional there');
  expect(line(kiro, 'human', 7, 'requirements.md')).toContain('a human decides');
  const specKit = (await importInto(join(FIXTURES, 'photo-albums'))).report;
  expect(line(specKit, 'human', 12)).toContain('a human decides');
  expect(line(specKit, 'left_out', 23)).toBeDefined();
  expect(line(specKit, 'left_out', 1, 'contracts.json')).toContain('not read');
});

test('a `tasks.md` alone is told by its content, and one that fits nothing needs `--from`', async () => {
  const shell = makeShell({ 'tasks.md': '## 1. Part\n\n- [ ] 1.1 Do it\n', 'phasegate.config.json': '{}\n' });
  expect((await shell.call(['import', join(shell.root, 'tasks.md'), '--json'])).json()).toMatchObject({
    kind: 'openspec-change',
  });
  shell.write('tasks.md', '# Things\n\n- [ ] do it\n');
  const unclear = await shell.call(['import', join(shell.root, 'tasks.md')]);
  expect(unclear).toMatchObject({ code: 2 });
  expect(unclear.stderr).toContain('--from KIND');
  const forced = ['import', join(shell.root, 'tasks.md'), '--from', 'kiro-spec', '--force', '--json'];
  expect((await shell.call(forced)).json()).toMatchObject({ kind: 'kiro-spec' });
  shell.write('tasks.md', 'Nothing to do.\n');
  expect(await shell.call(forced)).toMatchObject({ code: 2 });
});

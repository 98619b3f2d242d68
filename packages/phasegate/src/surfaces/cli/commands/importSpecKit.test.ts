import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeShell, type Shell } from '../fixtures/callCli.ts';
import { importInto, walkImported } from '../fixtures/walkImported.ts';

const FIXTURES = join(import.meta.dirname, '../../../loaders/import/fixtures');

test('a workflow of spec-kit is walked to its end; humans decide at gates and where it branches', async () => {
  const imported = await importInto(join(FIXTURES, 'spec-kit-workflow.yml'));
  expect(imported.report).toMatchObject({ kind: 'spec-kit-workflow', workflow: 'small-cycle' });

  const params = ['--param', 'spec=a list'];
  const walked = await walkImported(imported, {
    work,
    params,
    options: { which: 'It holds', again: 'Go in' },
  });

  expect(walked.status).toBe('completed');
  expect(walked.phases).toEqual([
    ...['specify', 'tests', 'deploy-note', 'which', 'extra', 'again', 'fix'],
    ...['again-again', 'each', 'join', 'look', 'polish'],
    ...['kind', 'whole', 'finish'],
  ]);
  const gated = [
    'specify',
    'deploy-note',
    'which',
    'extra',
    'again',
    'again-again',
    'each',
    'polish',
    'kind',
  ];
  expect(walked.waited).toEqual(gated);
  expect(walked.refused.unapproved).toEqual(gated);
  expect(walked.refused.empty).toEqual(walked.phases);
  expect(walked.refused.skipped).toEqual(walked.phases.filter((phase) => phase !== 'finish'));

  const keys = (list: string) => (own(imported.report, list) as { key: string }[]).map(({ key }) => key);
  expect(keys('human')).toEqual([
    'steps[deploy-note].run',
    'steps[which].condition',
    'steps[again].condition',
    'steps[each].step',
    'steps[polish].condition',
    'steps[kind].expression',
  ]);
  expect(keys('left_out')).toEqual([
    'schema_version',
    'workflow.author',
    'workflow.integration',
    'requires',
    'steps[specify].integration',
    'steps[review-spec].verdict_input',
    'steps[again].max_iterations',
    'steps[each].max_concurrency',
    'steps[join].output',
  ]);
});

test('a rejection at a gate of spec-kit sends back or ends the run, as it did there', async () => {
  const source = join(FIXTURES, 'spec-kit-workflow.yml');
  const { contract } = await importInto(source);
  const gateOf = (id: string) =>
    own(
      own(
        (own(contract, 'phases') as { id: string }[]).find((phase) => phase.id === id),
        'gate',
      ),
      'human',
    );
  expect(gateOf('specify')).toMatchObject({
    options: [{ label: 'Approve' }, { label: 'Reject', next: 'specify', requires_input: true }],
  });
  expect(gateOf('extra')).toMatchObject({
    options: [{ label: 'fine' }, { label: 'abort', next: null }],
    required: false,
  });
  // A command that does not end well holds the phase.
  await expect(
    walkImported(await importInto(source), { params: ['--param', 'spec=a list'] }),
  ).rejects.toThrow('the command of step tests failed');
});

test('steps that cannot be expressed end the import with their place', async () => {
  const head = 'workflow: { id: a }\nsteps:\n';
  const shell = makeShell({
    'type.yml': `${head}  - { id: a, type: teleport }\n`,
    'gate.yml': `${head}  - { id: a, type: gate, message: m, on_reject: Abort }\n`,
    'closed.yml': `${head}  - { id: a, type: gate, message: m, options: [reject] }\n`,
    'nameless.yml': `${head}  - { command: speckit.plan }\n`,
  });
  const failing = async (file: string, text: string) => {
    const { code, stderr } = await shell.call(['import', file]);
    expect([file, code]).toEqual([file, 2]);
    expect(stderr).toContain(`${file}:3:`);
    expect(stderr).toContain(text);
  };
  await failing('type.yml', 'no step of type `teleport`');
  await failing('gate.yml', '`Abort` is not a way out of a gate');
  await failing('closed.yml', 'no option of the gate goes on');
  await failing('nameless.yml', 'a step has no `id`');
});

/** What the agent leaves in the project. */
function work(_phase: string, shell: Shell): void {
  mkdirSync(join(shell.root, 'src'), { recursive: true });
  shell.write('src/a.txt', 'a\n');
}

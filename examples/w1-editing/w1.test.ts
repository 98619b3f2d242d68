import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { phaseById } from '@phasegate/core';
import { afterAll, describe, expect, test } from 'vitest';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { GOOD, STEPS } from './editing.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../packages/phasegate/bin/phasegate.js', import.meta.url));
const base = mkdtempSync(join(tmpdir(), 'phasegate-w1-'));
const env = { ...process.env, HOME: base, XDG_STATE_HOME: join(base, 'state') };

afterAll(() => rmSync(base, { recursive: true, force: true }));

const { workflow } = await (await openLocalProject({ projectDir: HERE, env })).catalog.load('w1_editing');

describe('the definition', () => {
  test('loads as it is designed, and has nothing to be noted [S3.13 S3.29 S3.55 S3.56 S3.64]', async () => {
    const { catalog } = await openLocalProject({ projectDir: HERE, env });

    expect(await catalog.validate([])).toEqual({ checked: ['w1.workflow.ts'], problems: [], unaccepted: [] });
    expect(workflow).toMatchObject({ id: 'w1_editing', title: 'Iterative Editing Workflow' });
    expect(workflow.entry).toBe('strategic-planning');
    expect(workflow.phases.map((phase) => phase.id)).toEqual(STEPS);
    expect(phaseById(workflow, 'writer')?.parallel).toEqual({ key: 'improvementAreas' });
    expect(phaseById(workflow, 'human-gate')?.next).toEqual({ kind: 'to', target: 'finalize' });
  });

  test('has one operation to a step, each with a command of its own [S3.3]', () => {
    const commands = workflow.phases.map(({ id, work }) =>
      work.kind === 'command' ? work.command : `${id} (${work.kind})`,
    );

    expect(commands).toEqual([
      'node commands/strategic.ts',
      'node commands/create-version.ts',
      'node commands/write.ts --area {item} --run {run}',
      'node commands/editor-review.ts',
      'node commands/domain-review.ts',
      'node commands/review-chapters.ts',
      'node commands/human-gate.ts',
      'node commands/finalize.ts',
    ]);
    expect(new Set(commands).size).toBe(STEPS.length);
  });

  test('is listed from its source, also where running it would fail [S4.4 C13]', async () => {
    const root = mkdtempSync(join(base, 'broken-'));
    copyFileSync(join(HERE, 'w1.workflow.ts'), join(root, 'w1.workflow.ts'));
    const source = readFileSync(join(root, 'w1.workflow.ts'), 'utf8');
    writeFileSync(join(root, 'w1.workflow.ts'), `${source}\nthrow new Error('it was run');\n`);
    const { catalog } = await openLocalProject({ projectDir: root, env });

    const [listed] = await catalog.list();
    const loading = catalog.load('w1_editing');

    expect(listed).toMatchObject({
      id: 'w1_editing',
      title: 'Iterative Editing Workflow',
      phases: STEPS,
      problems: [],
    });
    await expect(loading).rejects.toMatchObject({
      code: 'workflow_invalid',
      problems: [{ message: expect.stringContaining('it was run') }],
    });
  });

  test.each(['mermaid', 'svg'])('draws as %s, with every step and option', (format) => {
    const { status, stdout, stderr } = phasegate(['graph', 'w1_editing', '--format', format]);

    expect([status, stderr]).toEqual([0, '']);
    for (const step of STEPS) expect(stdout).toContain(step);
    for (const label of ['Approve and finalize', 'Reject and stop']) {
      expect(stdout.replace(/<\/?tspan[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')).toContain(label);
    }
  });
});

describe('from the command line', () => {
  const found = ['--param', 'book=moby-dick', '--param', 'analysisPath=analysis.json'];

  test('a book that is not there is said to be missing [S3.33 S3.57]', () => {
    const { status, stdout } = phasegate(['start', 'w1_editing', ...found.slice(2), '--json']);

    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: 'precondition_failed', message: 'Book not found' });
  });

  test('without a database to ask, no plan counts as saved, and nobody has failed [S3.4 C19]', () => {
    const root = mkdtempSync(join(base, 'bare-'));
    copyFileSync(join(HERE, 'w1.workflow.ts'), join(root, 'w1.workflow.ts'));
    const { run } = JSON.parse(phasegate(['start', 'w1_editing', ...found, '--json'], { root }).stdout);

    const { status, stdout } = phasegate(['done', run, '--evidence', '-', '--json'], {
      root,
      input: JSON.stringify(GOOD['strategic-planning']),
    });

    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      error: 'file_unreadable',
      message: expect.stringMatching(/^there is no database /),
      hint: expect.stringContaining('make it'),
    });
    expect(JSON.parse(phasegate(['status', run, '--json'], { root }).stdout)).toMatchObject({
      phase: 'strategic-planning',
      attempts: 0,
    });
  });
});

function phasegate(words: readonly string[], { root = HERE, input = '' } = {}) {
  const argv = [PROGRAM, ...words, '--project', root];
  return spawnSync(process.execPath, argv, { env, input, encoding: 'utf8' });
}

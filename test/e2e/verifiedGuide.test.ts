import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { snippetsIn } from '../docs/snippetsIn.ts';
import { makeProject, phasegate, startRun, type TestProject, withShown } from './cli.ts';

const { works } = (await findBubblewrap()).state;
const GUIDE = readFileSync(new URL('../../docs/guide/verified.md', import.meta.url), 'utf8');
const SHOWN = snippetsIn(GUIDE)[0]?.text ?? '';

const TEST = `import { strictEqual } from 'node:assert';
import { test } from 'node:test';
test('it doubles', async () => {
  const { double } = await import('../src/double.js');
  strictEqual(double(2), 4);
});
`;

function write(project: TestProject, path: string, text: string): void {
  mkdirSync(join(project.root, path, '..'), { recursive: true });
  writeFileSync(join(project.root, path), text);
}

function done(project: TestProject, run: string, evidence: unknown = {}) {
  const words = ['done', run, '--evidence', '-', '--json'];
  return phasegate(project, words, { stdin: JSON.stringify(evidence) });
}

describe.runIf(works)('the workflow of the guide to verified evidence (bubblewrap)', () => {
  test('is played to its end', async () => {
    const project = makeProject({ 'proven.workflow.yaml': SHOWN, 'package.json': '{ "type": "module" }' });
    const run = await startRun(project, 'proven');
    const shown = await phasegate(project, ['next', run]);
    expect(shown.stdout).toContain('write_files');

    write(project, 'tests/double.test.js', TEST);
    expect((await done(project, run)).json).toMatchObject({ current_phase: 'IMPL' });
    write(project, 'src/double.js', 'export const double = (n) => n * 2;\n');
    expect((await done(project, run, { changes: ['src/double.js'] })).json).toMatchObject({
      current_phase: 'REPORT',
    });
    const ended = await done(project, run);
    expect(ended.json, ended.stdout).toMatchObject({ status: 'completed' });
  });
});

/** What is bound is handed in by the first phase and asked about before `asking` is entered. */
function asked(asking: 'next' | 'after'): string {
  const check = '[{ check: made_from_this_tree, with: { artifact: changes }, message: Something changed }]';
  return `workflow: bound
enforcement: { workspace: shared }
phases:
  IMPL: { instructions: Write., writes: ["src/**"], required_artifacts: [{ type: changes, bound: true }] }
  NEXT: { instructions: Write more., writes: ["src/**"]${asking === 'next' ? `, preconditions: ${check}` : ''} }
  AFTER: { instructions: Report.${asking === 'after' ? `, preconditions: ${check}` : ''} }
`;
}

test('what is handed in now is made from this tree for the phase that comes next', async () => {
  const project = makeProject({ 'bound.workflow.yaml': asked('next'), 'src/a.js': '1' });
  const run = await startRun(project, 'bound');
  write(project, 'src/a.js', '2');

  expect((await done(project, run, { changes: ['src/a.js'] })).json).toMatchObject({ current_phase: 'NEXT' });
});

test('what was handed in before is not, once a phase in between changed something', async () => {
  const project = makeProject({ 'bound.workflow.yaml': asked('after'), 'src/a.js': '1' });
  const run = await startRun(project, 'bound');
  expect((await done(project, run, { changes: ['src/a.js'] })).json).toMatchObject({ current_phase: 'NEXT' });
  write(project, 'src/a.js', '2');

  const refused = await done(project, run);
  expect(refused.json.blockers).toMatchObject([
    { code: 'precondition_failed', message: expect.stringMatching(/the workspace changed since `changes`/) },
  ]);
  // Nor is it made anew by handing in the same name in a phase that does not bind it.
  expect((await done(project, run, { changes: ['src/a.js'] })).code).toBe(1);
  write(project, 'src/a.js', '1');
  expect((await done(project, run)).json).toMatchObject({ current_phase: 'AFTER' });
});

test.each([
  ['is made from this tree when nothing changed', '1', 0, 'NEXT'],
  ['is not when something did', '2', 1, 'IMPL'],
] as const)('what waited at a gate %s', async (_, text, code, phase) => {
  const gate = 'gate: { human: { prompt: Well?, options: [{ label: Yes }, { label: No, next: null }] } } }';
  const behind = asked('next').replace('bound: true }] }', `bound: true }], ${gate}`);
  const project = makeProject({ 'bound.workflow.yaml': behind, 'src/a.js': '1' });
  const run = await startRun(project, 'bound');
  const secret = { passphrase: 'open sesame' };
  await phasegate(project, ['humans', 'add', 'maria'], secret);
  expect((await done(project, run, { changes: ['src/a.js'] })).json).toMatchObject({ status: 'waiting' });
  write(project, 'src/a.js', text);

  const choice = await withShown(project, ['decide', run, '--option', 'Yes']);
  const decided = await phasegate(project, choice, secret);

  expect(decided.code, decided.stdout).toBe(code);
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase });
});

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell, TESTED_PROJECT } from '../fixtures/callCli.ts';

test('validate prints each problem with its place and exits 2', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: w\nphases:\n  A:\n    nmae: A\n    next: B\n',
  });

  const plain = await shell.call(['validate']);
  const { problems, valid } = (await shell.call(['validate', '--json'])).json();

  expect(plain.code).toBe(2);
  expect(plain.stdout).toMatch(/^agent_workflow\.yaml:4:5: /m);
  expect(valid).toBe(false);
  expect(problems).toContainEqual(
    expect.objectContaining({ file: 'agent_workflow.yaml', line: 4, column: 5 }),
  );
});

test('validate reports two files with one id, and a copy that only stands beside the project is none', async () => {
  const shell = makeShell({
    'a.workflow.yaml': 'workflow: same\nphases: { A: {} }\n',
    'b.workflow.yaml': 'workflow: same\nphases: { B: {} }\n',
    'c.workflow.yaml': 'workflow: other\nphases: { C: {} }\n',
    'draft.yaml': 'workflow: other\nphases: { C: {} }\n',
  });

  const all = await shell.call(['validate']);
  const one = await shell.call(['validate', 'a.workflow.yaml']);

  expect(all.code).toBe(2);
  expect(all.stdout).toMatch(/^a\.workflow\.yaml:1:1: .*`same` is also that of `b\.workflow\.yaml`/m);
  expect(all.stdout).toMatch(/^b\.workflow\.yaml:1:1: .*`same` is also that of `a\.workflow\.yaml`/m);
  expect(one.code).toBe(2);
  expect((await shell.call(['validate', 'draft.yaml'])).code).toBe(0);
});

test('validate shows the line with a caret under the place, whatever is in the line', async () => {
  const shell = makeShell({
    'a.workflow.yaml': `workflow: a\nphases:\n  A: { instructions: "漢\u202e\t", next: NOWHERE } # ${'x'.repeat(300)}\n`,
  });
  const line = (text: string) => (text.split('\n')[1] ?? '').trimEnd();
  const caret = (text: string) => text.split('\n')[2] ?? '';

  const { stdout } = await shell.call(['validate']);
  expect(stdout).toMatch(/^a\.workflow\.yaml:3:\d+: /);
  expect(line(stdout)).toContain('  3 |   A: { instructions: "漢\\u{202e} ", next: NOWHERE } # xxx');
  expect(line(stdout).length).toBeLessThanOrEqual(120);
  // The wide character takes two columns of a terminal and one of a string.
  expect(caret(stdout).indexOf('^')).toBe(line(stdout).indexOf('NOWHERE') + 1);
  expect(stdout).not.toContain('\u202e');

  const coloured = await shell.call(['validate'], '', { FORCE_COLOR: '1' });
  expect(caret(coloured.stdout)).toContain('\u001b[31m^\u001b[39m');
});

test('validate shows no line of a file that a link leads to outside of the project', async () => {
  const shell = makeShell({ 'b.workflow.yaml': 'workflow: b\nphases: { A: {} }\n' });
  writeFileSync(join(shell.root, '../secret'), 'my secret: [\n');
  symlinkSync('../secret', join(shell.root, 'a.workflow.yaml'));

  const { stdout, code } = await shell.call(['validate', join(shell.root, 'a.workflow.yaml')]);

  expect(code).toBe(2);
  expect(stdout).toContain('leaves the project');
  expect(stdout).not.toContain('my secret');
});

test('validate cuts an unknown key that is long', async () => {
  const key = 'k'.repeat(1000);
  const shell = makeShell({ 'agent_workflow.yaml': `workflow: w\n${key}: 1\nphases: { A: {} }\n` });

  const { code, stdout } = await shell.call(['validate']);

  expect(code).toBe(2);
  expect(stdout).toContain(`unknown key \`${'k'.repeat(80)}…\``);
  expect(stdout).not.toContain('k'.repeat(200));
});

test('validate tells phases that cannot be reached from an end that is missing', async () => {
  const phases = 'A: { next: B }, B: { next: A }';
  const shell = makeShell({
    'with.workflow.yaml': `workflow: with\nphases: { ${phases}, C: {} }\n`,
    'without.workflow.yaml': `workflow: without\nphases: { ${phases} }\n`,
  });

  const { problems } = (await shell.call(['validate', '--json'])).json();
  const said = (problems as { file: string; code: string; message: string }[])
    .filter(({ code }) => code === 'no_end')
    .map(({ file, message }) => [file, message]);

  expect(said).toEqual([
    ['with.workflow.yaml', 'no phase that can be reached leads to the end: give one `next: null`'],
    ['without.workflow.yaml', 'no phase leads to the end: give one `next: null`'],
  ]);
});

test('validate speaks in the spelling of the file', async () => {
  const text =
    'workflow: w\nphases:\n  A: { next: { condition: "x", on_true: B } }\n  B: { alowedtools: [], next: { ok: A, max_iterations: 0 } }\n';
  const shell = makeShell({ 'snake.workflow.yaml': text });
  const camel = makeShell({
    'camel.workflow.yaml': text.replace('on_true', 'onTrue').replace('max_iterations', 'maxIterations'),
  });

  const one = (await shell.call(['validate'])).stdout;
  const other = (await camel.call(['validate'])).stdout;

  for (const key of ['on_false', 'max_iterations', 'allowed_tools']) expect(one).toContain(`\`${key}\``);
  for (const key of ['onFalse', 'maxIterations', 'allowedTools']) expect(other).toContain(`\`${key}\``);
  expect(one).not.toMatch(/onFalse|maxIterations|allowedTools/);
  expect(other).not.toMatch(/on_false|max_iterations|allowed_tools/);
});

test('validate reports two files with one id also where they have problems of their own', async () => {
  const shell = makeShell({
    'a.workflow.yaml': '# first\nworkflow: same\nphases: { A: { next: NOWHERE } }\n',
    'b.workflow.yaml': 'workflow: same\nphases: { B: { next: NOWHERE } }\n',
  });

  const { problems } = (await shell.call(['validate', '--json'])).json();

  expect(problems).toMatchObject([
    { file: 'a.workflow.yaml', code: 'unknown_phase' },
    { file: 'b.workflow.yaml', code: 'unknown_phase' },
    { file: 'a.workflow.yaml', line: 2, code: 'duplicate_workflow' },
    { file: 'b.workflow.yaml', line: 1, code: 'duplicate_workflow' },
  ]);
});

test('list gives phase ids as the author wrote them: numbers where they are numbers [C2]', async () => {
  const shell = makeShell({
    'n.workflow.yaml': 'workflow: n\nphases: { 0: {}, 1: {} }\n',
    's.workflow.yaml': 'workflow: s\nphases: { 1: {}, 1A: {} }\n',
  });

  expect((await shell.call(['list', '--json'])).json()).toMatchObject({
    workflows: [
      { id: 'n', phases: [0, 1] },
      { id: 's', phases: [1, '1A'] },
    ],
  });
});

test('list says which workflows cannot be started and why, and runs no code to know it', async () => {
  const shell = makeShell({
    'good.workflow.yaml': 'workflow: good\nphases: { A: {} }\n',
    'bad.workflow.yaml': 'workflow: bad\nphases: { A: { next: NOWHERE } }\n',
    'code.workflow.ts': "throw new Error('it ran');\n",
  });

  const { workflows } = (await shell.call(['list', '--json'])).json();
  const plain = await shell.call(['list']);

  expect(workflows).toContainEqual(expect.objectContaining({ id: 'good', problems: [] }));
  expect(workflows).toContainEqual(
    expect.objectContaining({
      id: 'bad',
      problems: [expect.objectContaining({ file: 'bad.workflow.yaml', line: 2, code: 'unknown_phase' })],
    }),
  );
  expect(plain.stdout).toMatch(/^bad .* has problems$/m);
  expect(plain.stderr).toMatch(/^bad\.workflow\.yaml:2:\d+: /m);
  expect(plain.stdout + plain.stderr).not.toContain('it ran');
  expect(plain.code).toBe(0);
});

test('list, doctor and a start tell of two files with one id, and how to start one of them', async () => {
  const shell = makeShell({
    'a b.workflow.yaml': 'workflow: same\nphases: { A: {} }\n',
    'b.workflow.yaml': 'workflow: same\nphases: { B: { next: NOWHERE } }\n',
    'c.workflow.yaml': 'workflow: other\nphases: { C: {} }\n',
  });

  const { workflows } = (await shell.call(['list', '--json'])).json();
  const { checks } = (await shell.call(['doctor', '--json'])).json();

  expect(workflows).toMatchObject([
    { path: 'a b.workflow.yaml', problems: [{ code: 'duplicate_workflow' }] },
    { path: 'b.workflow.yaml', problems: [{ code: 'duplicate_workflow' }, { code: 'unknown_phase' }] },
    { id: 'other', problems: [] },
  ]);
  expect((await shell.call(['list'])).stdout.match(/^same .* has problems$/gm)).toHaveLength(2);
  expect(checks).toContainEqual({
    name: 'workflow same',
    status: 'broken',
    message: 'a b.workflow.yaml: the workflow id `same` is also that of `b.workflow.yaml`: give each its own',
    next_step: "phasegate validate 'a b.workflow.yaml'",
  });
  expect((await shell.call(['start', 'same', '--json'])).json()).toMatchObject({
    error: 'workflow_ambiguous',
    hint: "phasegate start 'a b.workflow.yaml'",
  });
  expect((await shell.call(['start', 'a b.workflow.yaml'])).code).toBe(0);
});

test('list tells a fault of one workflow that is none of ours as its problem', async () => {
  const shell = makeShell({
    'a.workflow.yaml': 'workflow: a\ndatabase: { file: a.db, migrations: steps }\nphases: { A: {} }\n',
    'b.workflow.yaml': 'workflow: b\nphases: { B: {} }\n',
    // Not a folder.
    steps: '',
  });

  const { code, json } = await shell.call(['list', '--json']);

  expect(code).toBe(0);
  expect(json().workflows).toMatchObject([
    { id: 'a', problems: [{ file: 'a.workflow.yaml', message: expect.stringContaining('ENOTDIR') }] },
    { id: 'b', problems: [] },
  ]);
});

test('validate names the folder that has no workflow', async () => {
  const shell = makeShell({ 'a.workflow.yaml': 'workflow: a\nphases: { A: {} }\n' });
  mkdirSync(join(shell.root, 'papers'));
  mkdirSync(join(shell.root, 'flows'));
  shell.write('flows/f.workflow.yaml', 'workflow: f\nphases: { A: {} }\n');

  expect(await shell.call(['validate', join(shell.root, 'papers')])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`no workflow in \`${join(shell.root, 'papers')}\``),
  });
  expect((await shell.call(['validate', 'papers', '--json'])).json()).toMatchObject({
    message: 'no workflow in `papers`',
    hint: '`phasegate list` shows where the workflows are',
  });
  expect((await shell.call(['validate', './flows/', 'papers', '--json'])).json()).toMatchObject({
    checked: ['flows/f.workflow.yaml'],
  });
  expect((await shell.call(['validate', 'none'])).code).toBe(2);
});

test('where there are too many workflow files, one that is named by its path is still drawn and validated', async () => {
  const shell = makeShell({ 'zz.workflow.yaml': 'workflow: zz\nphases: { A: {} }\n' });
  for (let n = 0; n <= 2000; n += 1) shell.write(`w${n}.workflow.yaml`, '');

  const checked = await shell.call(['validate', 'zz.workflow.yaml']);
  expect(checked).toMatchObject({ code: 0, stdout: '1 file valid\n' });
  expect(checked.stderr).toContain('its id was not compared with those of all other files');
  expect((await shell.call(['graph', join(shell.root, 'zz.workflow.yaml')])).code).toBe(0);
  expect((await shell.call(['start', 'zz.workflow.yaml'])).code).toBe(0);
  expect(await shell.call(['start', 'zz'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('a workflow starts by its path meanwhile: `phasegate start PATH`'),
  });
});

test('nothing to validate is not the same as nothing wrong', async () => {
  expect((await makeShell(EMPTY_PROJECT).call(['validate', '--json'])).json()).toMatchObject({
    error: 'workflow_unknown',
  });
});

test.each(['mermaid', 'dot', 'svg'])('graph draws %s', async (format) => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.call(['init', '--yes']);

  const { code, stdout } = await shell.call(['graph', 'tdd', '--format', format]);

  expect(code).toBe(0);
  expect(stdout).toContain('Review');
});

test('graph marks where a run is', async () => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.call(['init', '--yes']);
  const run = String((await shell.call(['start', 'tdd', '--json'])).json().run);

  const { nodes } = (await shell.call(['graph', 'tdd', '--run', run, '--json'])).json();

  expect(nodes).toContainEqual(expect.objectContaining({ id: 'PLAN', status: 'current' }));
  expect(nodes).toContainEqual(expect.objectContaining({ id: 'TDD', status: 'ahead' }));
});

test('a parameter takes the type the workflow declares', async () => {
  const shell = makeShell({
    'agent_workflow.yaml':
      'workflow: w\nparams: {count: {type: integer}, name: {type: string}}\nphases: {A: {name: A, next: null}}\n',
  });
  const words = ['start', 'w', '--param', 'count=3', '--option', 'name=3', '--json'];
  const run = String((await shell.call(words)).json().run);

  expect((await shell.call(['status', run, '--json'])).json().params).toMatchObject({
    count: 3,
    name: '3',
  });
  expect((await shell.call(['start', 'w', '--param', 'cuont=3', '--json'])).code).toBe(1);
  expect((await shell.call(['start', 'w', '--param', 'count=3', '--option', 'count=4'])).code).toBe(2);
});

test('a workflow in TypeScript works in a project of CommonJS, which is what `npm init -y` makes', async () => {
  const shell = makeShell({
    'package.json': '{ "type": "commonjs" }',
    'count.workflow.ts': `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'count',
  steps: [{ name: 'go', instructions: 'Count.', next: null, postconditions: [
    { name: 'some', check: (ctx) => ctx.result.n > 1, error: 'n is too small' }] }],
});
`,
  });
  const done = (n: number, run: string) => shell.call(['done', run, '--evidence', '-'], `{"n":${n}}`);

  expect((await shell.call(['validate'])).code).toBe(0);
  const { run } = (await shell.call(['start', 'count', '--json'])).json() as { run: string };
  expect((await done(1, run)).stdout).toContain('n is too small');
  expect((await done(2, run)).code).toBe(0);
});

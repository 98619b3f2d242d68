import { expect, test } from 'vitest';
import { makeShell, TESTED_PROJECT } from '../fixtures/callCli.ts';

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

test('nothing to validate is not the same as nothing wrong', async () => {
  expect((await makeShell().call(['validate', '--json'])).json()).toMatchObject({
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

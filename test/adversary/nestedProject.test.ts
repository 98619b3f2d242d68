import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject, phasegate } from '../e2e/cli.ts';
import { PASSPHRASE } from './siege.ts';

const SECRET = { passphrase: PASSPHRASE };

test.each(['phasegate.config.yaml', 'agent_workflow.yaml', '.phasegate/x'])(
  'a folder that `%s` makes a project is named and not entered, until a human accepts it [adv.Q3]',
  async (mark) => {
    const project = makeProject({ 'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n' });
    expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });
    const sub = join(project.root, 'packages', 'sub');
    mkdirSync(dirname(join(sub, mark)), { recursive: true });
    writeFileSync(
      join(sub, mark),
      'agent_workflow.yaml' === mark ? 'workflow: evil\nphases: { A: {} }\n' : '',
    );
    const states = () => readdirSync(dirname(project.stateDir));
    const before = states();

    const refused = await phasegate(project, ['list', '--json'], { cwd: sub });
    expect(refused.stderr).toMatch(/packages\/sub.*no human.*phasegate trust --nested packages\/sub/);
    expect(refused.stdout).toContain('lab');
    expect(refused.stdout).not.toContain('evil');
    // No state of its own is made, in which nobody has to accept anything.
    await phasegate(project, ['start', 'lab', '--json'], { cwd: sub });
    expect(states()).toEqual(before);

    const words = ['trust', '--nested', 'packages/sub', '--project', project.root];
    expect(await phasegate(project, words, { ...SECRET, cwd: sub })).toMatchObject({ code: 0 });
    const entered = await phasegate(project, ['doctor', '--json'], { cwd: sub });
    expect(entered.stdout).toContain(`"message":"${sub}"`);
  },
);

test('what is not a project yet cannot be accepted as one: whoever makes it later would be let in [adv.Q3]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n' });
  expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });

  for (const folder of ['packages/zzz', 'agent_workflow.yaml']) {
    const called = await phasegate(project, ['trust', '--nested', folder, '--json'], SECRET);
    expect(called).toMatchObject({ code: 2, json: { error: 'usage' } });
  }
});

test('who makes the folder around a project a project does not take its place [adv.Q3]', async () => {
  const project = makeProject({ 'sub/agent_workflow.yaml': 'workflow: inner\nphases: { A: {} }\n' });
  const sub = join(project.root, 'sub');
  const add = (name: string, cwd: string) => phasegate(project, ['humans', 'add', name], { ...SECRET, cwd });
  expect(await add('maria', sub)).toMatchObject({ code: 0 });
  writeFileSync(join(project.root, 'agent_workflow.yaml'), 'workflow: evil\nphases: { A: {} }\n');
  expect(await add('mallory', project.root)).toMatchObject({ code: 0 });

  const { stdout } = await phasegate(project, ['list', '--json'], { cwd: sub });

  expect(stdout).toContain('inner');
  expect(stdout).not.toContain('evil');
});

test('without a human the nearest project is entered, as ever', async () => {
  const project = makeProject({
    'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n',
    'sub/agent_workflow.yaml': 'workflow: inner\nphases: { A: {} }\n',
  });
  expect(existsSync(project.stateDir)).toBe(false);
  expect((await phasegate(project, ['list', '--json'], { cwd: join(project.root, 'sub') })).stdout).toContain(
    'inner',
  );
});

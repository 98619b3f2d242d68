import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

test('what is not a project yet cannot be accepted as one: anyone who makes it later would be let in [adv.Q3]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n' });
  expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });

  for (const folder of ['packages/zzz', 'agent_workflow.yaml']) {
    const called = await phasegate(project, ['trust', '--nested', folder, '--json'], SECRET);
    expect(called).toMatchObject({ code: 2, json: { error: 'usage' } });
  }
});

test.each(['the folder around a project', 'a folder inside of a project'])(
  'who makes %s one with a human, at whatever time, does not take its place [adv.Q3]',
  async (which) => {
    const project = makeProject({ 'sub/agent_workflow.yaml': 'workflow: inner\nphases: { A: {} }\n' });
    const sub = join(project.root, 'sub');
    const [first, second] = which.includes('around') ? [sub, project.root] : [project.root, sub];
    writeFileSync(join(project.root, 'agent_workflow.yaml'), 'workflow: outer\nphases: { A: {} }\n');
    // The clock of the one who runs the command says when a human was added.
    const past = join(project.base, 'past.cjs');
    writeFileSync(past, "Date.now = () => Date.parse('2020-01-01');");
    const add = (name: string, at: string, env = {}) =>
      phasegate(project, ['humans', 'add', name, '--project', at], { ...SECRET, env });
    expect(await add('maria', first)).toMatchObject({ code: 0 });
    expect(await add('mallory', second, { NODE_OPTIONS: `--require ${past}` })).toMatchObject({ code: 0 });

    expect(await phasegate(project, ['list', '--json'], { cwd: sub })).toMatchObject({
      code: 1,
      json: { error: 'not_permitted', message: expect.stringContaining('both are projects with humans') },
    });
    for (const [at, workflow] of [
      [sub, 'inner'],
      [project.root, 'outer'],
    ] as const) {
      const { stdout } = await phasegate(project, ['list', '--json', '--project', at], { cwd: sub });
      expect(stdout).toContain(workflow);
    }
  },
);

test('a project whose marks were removed is still asked what is in it [adv.Q3]', async () => {
  const project = makeProject({
    'phasegate.config.yaml': '# nothing\n',
    'workflows/lab.workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n',
    'src/tool/agent_workflow.yaml': 'workflow: evil\nphases: { A: {} }\n',
  });
  expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });
  rmSync(join(project.root, 'phasegate.config.yaml'));

  const listed = await phasegate(project, ['list', '--json'], { cwd: join(project.root, 'src/tool') });
  expect(listed.stderr).toContain('phasegate trust --nested src/tool');
  expect(listed.stdout).not.toContain('evil');
});

test('a link in a project to a project of others is not entered [adv.Q3]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n' });
  expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });
  const other = join(project.base, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'agent_workflow.yaml'), 'workflow: evil\nphases: { A: {} }\n');
  const cwd = join(project.root, 'tool');
  symlinkSync(other, cwd);

  expect(await phasegate(project, ['list', '--json'], { cwd, env: { PWD: cwd } })).toMatchObject({
    code: 1,
    json: { error: 'not_permitted', message: expect.stringContaining('leads out of') },
  });
  expect((await phasegate(project, ['list', '--json', '--project', other])).stdout).toContain('evil');
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

test('a folder in a project that is known by its state alone does not run what an agent left there [adv.Q3]', async () => {
  const project = makeProject({ 'workflows/lab.workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n' });
  expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });
  const pwned = join(project.base, 'pwned');
  project.write(
    'sub/workflows/evil.workflow.mjs',
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(pwned)}, '');\nexport default 1;\n`,
  );
  const states = readdirSync(dirname(project.stateDir));
  const sub = join(project.root, 'sub');

  const listed = await phasegate(project, ['list', '--json'], { cwd: sub });
  for (const words of [['validate'], ['check'], ['start', 'evil'], ['doctor']])
    await phasegate(project, words, { cwd: sub });

  expect(existsSync(pwned)).toBe(false);
  expect(listed.stdout).toContain('lab');
  expect(readdirSync(dirname(project.stateDir))).toEqual(states);
});

test('a folder below that is named as the project runs nothing until a human accepts it [adv.Q3]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': 'workflow: lab\nphases: { LAB: {} }\n' });
  expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });
  const pwned = join(project.base, 'pwned');
  const command = `{ check: command, with: { argv: [touch, ${JSON.stringify(pwned)}] } }`;
  project.write(
    'docs/n/workflows/x.workflow.yaml',
    `workflow: x\nphases: { A: { preconditions: [${command}] } }\n`,
  );
  project.write(
    'docs/n/workflows/y.workflow.mjs',
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(pwned)}, '');\nexport default 1;\n`,
  );
  const states = readdirSync(dirname(project.stateDir));
  const nested = join(project.root, 'docs/n');

  for (const words of [['start', 'x'], ['start', 'y'], ['next']]) {
    const called = await phasegate(project, [...words, '--project', nested, '--json']);
    expect(called.code, words.join(' ')).not.toBe(0);
    expect(called.stdout + called.stderr).toContain('no human of that project has accepted it');
  }
  await phasegate(project, ['validate', '--project', nested]);

  expect(existsSync(pwned)).toBe(false);
  expect(readdirSync(dirname(project.stateDir))).toEqual(states);
  project.write('docs/n/phasegate.config.yaml', '');
  expect(await phasegate(project, ['trust', '--nested', 'docs/n'], SECRET)).toMatchObject({ code: 0 });
  expect(await phasegate(project, ['start', 'x', '--project', nested, '--json'])).toMatchObject({ code: 0 });
  expect(existsSync(pwned)).toBe(true);
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { complete, makeProject, phasegate, startRun, type TestProject } from '../e2e/cli.ts';
import { PASSPHRASE } from './siege.ts';

const SECRET = { passphrase: PASSPHRASE };
const LAB = `workflow: lab
phases:
  LAB:
    postconditions:
      - check: files
        with: { non_empty: [proof.txt] }
        message: there is no proof
`;
const MODULE = `import { writeFileSync } from 'node:fs';
writeFileSync('RAN', '');
export default {};
`;

test.each([
  ['in the project itself', (project: TestProject) => project.root],
  ['in the folder around it', (project: TestProject) => project.base],
])('a forged `.git` file %s does not take its humans away [adv.Q3]', async (_, placeOf) => {
  const project = await withHuman();
  project.write('workflows/evil.workflow.ts', MODULE);
  const top = placeOf(project);
  rmSync(join(project.root, '.git'), { recursive: true });
  forge(top, join(top, '.wt', 'x'));
  const states = readdirSync(dirname(project.stateDir));

  await phasegate(project, ['validate']);
  expect(existsSync(join(project.root, 'RAN'))).toBe(false);
  const added = await phasegate(project, ['humans', 'add', 'mallory', '--json'], { passphrase: 'mallory' });
  expect(added.code).not.toBe(0);
  expect((await phasegate(project, ['humans', 'list', '--json'])).stdout).toContain('maria');
  expect(readdirSync(dirname(project.stateDir))).toEqual(states);
});

test.each(['a forged `.git` file', 'a genuine worktree'])(
  '%s does not let an agent choose where checks are looked at [adv.Q3]',
  async (way) => {
    const project = await withHuman();
    const run = await startRun(project, 'lab');
    const outside = join(project.base, 'outside');
    if (way === 'a genuine worktree') git(project.root, 'worktree', 'add', '-q', outside);
    else forge(outside, project.root);
    writeFileSync(join(outside, 'proof.txt'), 'made up');

    for (const words of [
      ['done', run, '--phase', 'LAB', '--json'],
      ['status', run, '--json'],
      ['run', run, '--json'],
    ]) {
      expect(await phasegate(project, words, { cwd: outside })).toMatchObject({
        code: 1,
        json: { error: 'not_permitted', message: expect.stringContaining('no human of that project') },
      });
    }
    expect((await complete(project, run, { phase: 'LAB' })).json).not.toMatchObject({
      checkpoint_passed: true,
    });
  },
);

test('a link in the place of a project does not take its humans away from those who use its path [adv.Q3]', async () => {
  const project = await withHuman();
  mkdirSync(join(project.root, 'src'));
  renameSync(project.root, join(project.base, '.hidden'));
  symlinkSync('.hidden', project.root);
  const states = readdirSync(dirname(project.stateDir));

  for (const { named, ...from } of [
    { named: ['--project', project.root], cwd: project.base },
    { named: [], cwd: project.root, env: { PWD: project.root } },
    { named: [], cwd: join(project.root, 'src'), env: { PWD: join(project.root, 'src') } },
  ]) {
    for (const words of [
      ['start', 'lab'],
      ['serve', '--port', '0'],
      ['humans', 'list'],
    ]) {
      expect(await phasegate(project, [...words, ...named, '--json'], from)).toMatchObject({
        code: 1,
        json: { error: 'not_permitted', message: expect.stringContaining('was a project') },
      });
    }
  }
  expect(readdirSync(dirname(project.stateDir))).toEqual(states);
});

test('without a human a folder that says it is a worktree has its own runs, not those of another [adv.Q3]', async () => {
  const project = repository();
  const run = await startRun(project, 'lab');
  const outside = join(project.base, 'outside');
  git(project.root, 'worktree', 'add', '-q', outside);
  writeFileSync(join(outside, 'proof.txt'), 'made up');

  const done = await phasegate(project, ['done', run, '--phase', 'LAB', '--json'], { cwd: outside });
  expect(done).toMatchObject({ code: 1, json: { error: 'run_unknown' } });
  // The first run in a worktree is as easy as anywhere.
  expect((await phasegate(project, ['start', 'lab', '--json'], { cwd: outside })).code).toBe(0);
});

test('a state made at a path beforehand does not make the later worktree there a project of others [adv.Q3]', async () => {
  const project = await withHuman();
  const later = join(project.base, 'later');
  mkdirSync(later);
  writeFileSync(join(later, 'agent_workflow.yaml'), LAB);
  const add = ['humans', 'add', 'mallory', '--project', later];
  expect(await phasegate(project, add, SECRET)).toMatchObject({ code: 0 });
  rmSync(later, { recursive: true });
  git(project.root, 'worktree', 'add', '-q', later);

  for (const words of [
    ['humans', 'list'],
    ['start', 'lab'],
  ]) {
    const called = await phasegate(project, [...words, '--json'], { cwd: later });
    expect(called).toMatchObject({ code: 1, json: { error: 'not_permitted' } });
  }
});

test('a worktree that a human accepted shares the state, whatever becomes of its `.git` [adv.Q3]', async () => {
  const project = await withHuman();
  const run = await startRun(project, 'lab');
  const linked = join(project.base, 'linked');
  git(project.root, 'worktree', 'add', '-q', linked);
  const words = ['trust', '--worktree', linked, '--project', project.root, '--json'];
  const wrong = await phasegate(project, words, { passphrase: 'not it', cwd: linked });
  expect(wrong.json).toMatchObject({ error: 'credential_invalid' });
  expect((await phasegate(project, ['runs', '--json'], { cwd: linked })).json).toMatchObject({
    error: 'not_permitted',
  });

  expect(await phasegate(project, words, { ...SECRET, cwd: linked })).toMatchObject({
    code: 0,
    json: { worktree: linked, by: 'maria' },
  });
  const seen = async () => (await phasegate(project, ['runs', '--json'], { cwd: linked })).stdout;
  expect(await seen()).toContain(run);
  rmSync(join(linked, '.git'));
  expect(await seen()).toContain(run);
  forge(linked, join(project.base, 'unknown'));
  expect(await seen()).toContain(run);
});

test('a worktree inside of the project is named and not entered, until a human accepts it [adv.Q3]', async () => {
  const project = await withHuman();
  const run = await startRun(project, 'lab');
  const inner = join(project.root, 'trees', 'inner');
  git(project.root, 'worktree', 'add', '-q', inner);
  writeFileSync(join(inner, 'proof.txt'), 'made up');

  const done = await phasegate(project, ['done', run, '--phase', 'LAB', '--json'], { cwd: inner });
  expect(done.stderr).toContain(`phasegate trust --worktree ${inner} --project ${project.root}`);
  expect(done.json).not.toMatchObject({ checkpoint_passed: true });
  const words = ['trust', '--worktree', inner];
  expect(await phasegate(project, words, SECRET)).toMatchObject({ code: 0 });
  expect((await phasegate(project, ['doctor', '--json'], { cwd: inner })).stdout).toContain(inner);
});

test('only a worktree of the project, without a state of its own, can be accepted as one [adv.Q3]', async () => {
  const project = await withHuman();
  const other = join(project.base, 'other');
  mkdirSync(other);
  const accept = (folder: string) => phasegate(project, ['trust', '--worktree', folder, '--json'], SECRET);
  expect(await accept(other)).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(await accept(project.root)).toMatchObject({ code: 2, json: { error: 'usage' } });

  writeFileSync(join(other, 'agent_workflow.yaml'), LAB);
  expect((await phasegate(project, ['start', 'lab', '--json'], { cwd: other })).code).toBe(0);
  forge(other, project.root);
  const refused = await accept(other);
  expect(refused).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(refused.stdout).toContain('state of its own');
});

test('an accepted worktree does not hand its acceptance on to a third folder [adv.Q3]', async () => {
  const project = await withHuman();
  const [linked, third] = [join(project.base, 'linked'), join(project.base, 'third')];
  git(project.root, 'worktree', 'add', '-q', linked);
  expect((await phasegate(project, ['trust', '--worktree', linked], SECRET)).code).toBe(0);
  rmSync(join(linked, '.git'));
  forge(third, linked);

  const words = ['trust', '--worktree', third, '--project', linked, '--json'];
  const refused = await phasegate(project, words, SECRET);
  expect(refused).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(refused.stdout).toContain('is a worktree itself');
  expect((await phasegate(project, ['runs', '--json'], { cwd: third })).json).toMatchObject({
    error: 'not_permitted',
  });
});

test('a project named by a link is the folder behind it: moving the link chooses no other for its runs [adv.Q3]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': LAB });
  const link = join(project.base, 'link');
  symlinkSync(project.root, link);

  const { stdout } = await phasegate(project, ['doctor', '--project', link, '--json']);

  expect(stdout).toContain(`"message":"${project.root}"`);
  expect(stdout).not.toContain(link);
});

/** A `.git` file that says its folder is a worktree of another, and the way back that git keeps. */
function forge(folder: string, main: string): void {
  const gitDir = join(main, '.git', 'worktrees', 'w');
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, '.git'), { recursive: true, force: true });
  mkdirSync(gitDir, { recursive: true });
  writeFileSync(join(folder, '.git'), `gitdir: ${gitDir}\n`);
  writeFileSync(join(gitDir, 'commondir'), '../..\n');
  writeFileSync(join(gitDir, 'gitdir'), `${join(folder, '.git')}\n`);
}

async function withHuman(): Promise<TestProject> {
  const project = repository();
  expect(await phasegate(project, ['humans', 'add', 'maria'], SECRET)).toMatchObject({ code: 0 });
  expect(await phasegate(project, ['trust', 'lab', '--yes'], SECRET)).toMatchObject({ code: 0 });
  return project;
}

function repository(): TestProject {
  const project = makeProject({ 'agent_workflow.yaml': LAB });
  git(project.root, 'init', '-q');
  git(project.root, 'add', '.');
  git(project.root, 'commit', '-q', '-m', 'first');
  return project;
}

function git(cwd: string, ...words: readonly string[]): void {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
    cwd,
    stdio: 'pipe',
  });
}

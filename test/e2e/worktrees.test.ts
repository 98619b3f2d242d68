import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { asProcess, makeProject, phasegate, type TestProject, withShown } from './cli.ts';

const PASSPHRASE = 'correct horse battery';
const LAB = 'workflow: lab\nphases: { A: { writes: ["src/**"] } }\n';
const STRICT =
  'workflow: strict\nphases: { A: { writes: ["src/**"], preconditions: [{ check: files, with: { exist: [missing.txt] } }] } }\n';

function repository(files: Readonly<Record<string, string>> = {}): TestProject {
  const project = makeProject({ 'lab.workflow.yaml': LAB, 'strict.workflow.yaml': STRICT, ...files });
  git(project.root, 'init', '--quiet');
  commit(project.root);
  return project;
}

function git(cwd: string, ...words: readonly string[]): string {
  const as = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...as, ...words], { cwd, encoding: 'utf8' });
}

function commit(cwd: string): void {
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', '--message', 'work');
}

/** The folder beside the project in which worktrees are. */
function folderOf(project: TestProject): string {
  return join(dirname(project.root), 'project.worktrees');
}

// Worktrees are made by the installed program, which knows the machine.
const start = (project: TestProject, ...words: readonly string[]) =>
  asProcess(project, ['start', 'lab', '--worktree', ...words, '--json']);

const done = (project: TestProject, run: string, cwd: string) =>
  phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}', cwd });

test('a run with --worktree begins beside another, works in its own folder and nowhere else, and is merged and removed [adv.K8]', async () => {
  const project = repository();
  const first = (await phasegate(project, ['start', 'lab', '--json'])).json;
  const { json } = await start(project);
  const run = String(json.run);
  const folder = join(folderOf(project), run);
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src', 'a.txt'), 'a\n');
  const status = (await phasegate(project, ['status', run, '--json'])).json;
  const inMain = await done(project, run, project.root);
  const ofMain = await done(project, String(first.run), folder);
  const another = await phasegate(project, ['start', 'lab', '--json'], { cwd: folder });
  const early = await asProcess(project, ['worktree', 'remove', run]);

  expect([first.status, json.status, status.folder]).toEqual(['active', 'active', folder]);
  expect(inMain.json.message).toContain(`run \`${run}\` works in \`${folder}\`, and only there`);
  expect(ofMain.json.message).toContain(`was made for run \`${run}\` and is for no other`);
  expect(another.json.message).toContain(`was made for run \`${run}\` and is for no other`);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('its folder is still needed')]);

  writeFileSync(join(folder, 'stray.txt'), 'x\n');
  expect((await done(project, run, folder)).json.error).toBe('scope_violation');
  git(folder, 'clean', '--quiet', '--force', 'stray.txt');
  expect((await done(project, run, folder)).json.status).toBe('completed');
  const ended = (await phasegate(project, ['status', run])).stdout;
  expect(ended).toContain(`git merge phasegate/${run}, then phasegate worktree remove ${run}`);

  const unclean = await asProcess(project, ['worktree', 'remove', run]);
  expect([unclean.code, unclean.stderr]).toEqual([1, expect.stringContaining('not committed: `src/a.txt`')]);
  commit(folder);
  const removed = await asProcess(project, ['worktree', 'remove', run, '--json']);
  expect(removed.json).toMatchObject({ folder, branch: `phasegate/${run}`, branch_kept: true });
  expect([existsSync(folder), git(project.root, 'branch', '--list', 'phasegate/*').trim()]).toEqual([
    false,
    `phasegate/${run}`,
  ]);
});

test.runIf(FULL)(
  'a worktree runs no program of the repository, and where no run comes of it nothing is left',
  async () => {
    const hooked = repository({ '.gitattributes': '*.txt filter=evil\n', 'a.txt': 'a\n' });
    writeFileSync(
      join(hooked.root, '.git', 'hooks', 'post-checkout'),
      '#!/bin/sh\ntouch "$HOME/hook-ran"\n',
      {
        mode: 0o755,
      },
    );
    expect((await start(hooked)).code).toBe(0);
    expect(existsSync(join(hooked.base, 'hook-ran'))).toBe(false);

    const filtered = repository({ '.gitattributes': '*.txt filter=evil\n', 'a.txt': 'a\n' });
    git(filtered.root, 'config', 'filter.evil.smudge', 'touch ran; cat');
    const refused = await start(filtered);
    expect(refused.json).toMatchObject({ error: 'worktree_failed' });
    expect(String(refused.json.message)).toContain('filter.evil.smudge');

    const strict = repository();
    const unmet = await asProcess(strict, ['start', 'strict', '--worktree', '--json']);
    expect(unmet.json.error).toBe('precondition_failed');
    const unknown = await asProcess(strict, ['start', 'nothing', '--worktree', '--json']);
    expect(unknown.json).toMatchObject({
      error: 'workflow_unknown',
      hint: expect.stringContaining('commit the files of the workflow'),
    });
    for (const project of [filtered, strict]) {
      expect(existsSync(folderOf(project))).toBe(false);
      expect(git(project.root, 'branch', '--list', 'phasegate/*')).toBe('');
      expect(git(project.root, 'worktree', 'list').trim().split('\n').length).toBe(1);
    }
  },
);

test.each([
  ['no repository', () => makeProject({ 'lab.workflow.yaml': LAB }), 'is not a git repository'],
  [
    'no commit',
    () => {
      const project = makeProject({ 'lab.workflow.yaml': LAB });
      git(project.root, 'init', '--quiet');
      return project;
    },
    'no commit yet',
  ],
  [
    'staged changes',
    () => {
      const project = repository();
      project.write('new.txt', 'x\n');
      git(project.root, 'add', 'new.txt');
      return project;
    },
    '`new.txt` is staged and not committed',
  ],
])('a project with %s gets no worktree, and is told why', async (_, make, message) => {
  const project = make();
  const { code, json } = await start(project);

  expect([code, json.error]).toEqual([1, 'worktree_failed']);
  expect(json.message).toContain(message);
  expect(existsSync(folderOf(project))).toBe(false);
});

test('a worktree is not made over a server', async () => {
  const { code, stderr } = await asProcess(repository(), ['start', 'lab', '--worktree'], {
    env: { PHASEGATE_URL: 'http://127.0.0.1:9' },
  });

  expect([code, stderr]).toEqual([2, expect.stringContaining('on the machine of the project alone')]);
});

test('a human decides from any folder; what an agent does is refused elsewhere with the whole command', async () => {
  const gated =
    'workflow: gated\nphases: { A: { writes: ["src/**"], gate: { human: { prompt: Fine, options: [{ label: Yes }, { label: No, next: A }] } } }, B: {} }\n';
  const project = repository({ 'gated.workflow.yaml': gated });
  const { json } = await asProcess(project, ['start', 'gated', '--worktree', '--json']);
  const run = String(json.run);
  const folder = join(folderOf(project), run);
  const other = String((await phasegate(project, ['start', 'lab', '--json'])).json.run);
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: PASSPHRASE });

  const early = await phasegate(project, ['decide', run, '--option', 'Yes', '--shown', 'x', '--json']);
  expect(early.json.error).toBe('run_not_waiting');
  const inMain = await done(project, run, project.root);
  expect(inMain.json.hint).toContain(`phasegate --project ${folder} done ${run}`);
  expect((await done(project, run, folder)).json.status).toBe('waiting');

  for (const words of [['status'], ['next']]) {
    const shown = await phasegate(project, [...words, '--json'], { cwd: folder });
    expect([words, shown.json.run]).toEqual([words, run]);
  }
  expect((await phasegate(project, ['status', '--json'])).json.run).toBe(other);
  const fenced = await phasegate(project, ['fence', run.slice(0, 12), '--json']);
  expect([fenced.code, fenced.json.run]).toEqual([0, run]);

  const words = await withShown(project, ['decide', run, '--option', 'Yes']);
  const decided = await phasegate(project, [...words, '--json'], { passphrase: PASSPHRASE });
  expect([decided.code, decided.json.status]).toEqual([0, 'active']);
});

test('`worktree` alone lists, and `worktree remove` takes the beginning of an id', async () => {
  const project = repository();
  const { json } = await start(project);
  const run = String(json.run);

  const listed = await asProcess(project, ['worktree', '--json']);
  expect([listed.code, listed.json.worktrees]).toEqual([0, [expect.objectContaining({ run })]]);
  const early = await asProcess(project, ['worktree', 'remove', run.slice(0, 12)]);
  expect(early.stderr).toContain(`phasegate stop ${run} --reason TEXT`);
});

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { outputOf, use, type Workspace, workspaceWith } from './fixtures/workspace.ts';
import { git } from './git.ts';

describe('git', () => {
  afterEach(() => void vi.unstubAllEnvs());

  test('runs one git command', async () => {
    const workspace = repository({ 'a.txt': 'one\n' });

    expect(outputOf(await use(git, workspace, { command: 'git status --short' })).stdout).toContain(
      '?? a.txt',
    );
    expect(await use(git, workspace, { command: 'git add a.txt' })).toMatchObject({ ok: true });
    const commit = `git commit -q -m 'fix: /etc and ../x in words'`;
    expect(await use(git, workspace, { command: commit })).toMatchObject({ ok: true });
    expect(outputOf(await use(git, workspace, { command: 'git log --oneline HEAD~0..HEAD' })).exit_code).toBe(
      0,
    );
    expect(outputOf(await use(git, workspace, { command: 'git log --format=%s' })).stdout).toBe(
      'fix: /etc and ../x in words\n',
    );
  });

  test.each([
    'rm -rf .',
    'git status; rm x',
    'git status && git push',
    'git log | tee planted',
    'git log $(touch planted)',
    'git log `touch planted`',
    'git log > planted',
    'bash -c "git status"',
    '/usr/bin/git status',
    'git',
    'git -c alias.x=!touch\\ planted x',
    'git -c core.pager="touch planted" log',
    'git --exec-path=. status',
    'git -C .. status',
    'git --git-dir=sub/.git status',
    'git --work-tree=.. status',
    'git -p log',
    'git config alias.x "!touch planted"',
    'git x',
    'git bisect run touch planted',
    'git rebase --exec "touch planted" HEAD~1',
    'git rebase --ex "touch planted" HEAD~1',
    'git rebase -x "touch planted" HEAD~1',
    'git rebase -ix "touch planted" HEAD~1',
    'git grep -O"touch planted" one',
    'git grep -nOtouch one',
    'git grep --open-files-in-pager="touch planted" one',
    'git diff --output=planted',
    'git log --outp planted',
    'git fetch --upload-pack="touch planted" origin',
    'git push --receive-p="touch planted" origin',
    'git submodule foreach "touch planted"',
    'git filter-branch --tree-filter "touch planted"',
    'git difftool -x "touch planted"',
    'git clone ext::sh%20-c%20touch%20planted x',
    'git init --template=hooks sub',
    'git worktree add ../x',
    'git hash-object -w /etc/passwd',
    'git archive --output=planted HEAD',
    'git help log',
    'git commit -F a.txt',
    'git commit -aFa.txt',
    'git commit --fil=a.txt',
    'git commit -t a.txt',
    'git diff --no-index a.txt link',
    'git blame --contents a.txt a.txt',
    'git grep -f a.txt',
    'git rebase -X -- --exec "touch planted" HEAD~1',
    'git grep -e -- --open-files-in-pager="touch planted" -e one',
    'git log -- --output=planted',
    'git diff --ext-diff',
    'git log --help',
    'git cherry-pick --strategy=x/evil side',
    'git cherry-pick --strat x/evil side',
    'git revert --strategy x/evil HEAD',
    'git rebase --strategy=x/evil side',
    'git rebase -s x/evil side',
    'git rebase -qsx/evil side',
    'git merge -nsx/evil side',
    'git pull --rebase -s x/evil . side',
    'git diff --no-ext-diff --src-prefix -S ../secret a.txt',
    'git diff --src-prefix -S /etc/passwd a.txt',
    'git apply --exclude -S ../secret',
    'git apply p',
    'git mv a.txt .git/config',
    'git symbolic-ref config refs/heads/y',
    'git rebase -ms x/evil side',
    'git rm -rf .git/hooks',
    'git add ../x',
    'git fetch http://127.0.0.1:1/x',
    'git diff HEAD:a.txt -- :/link',
  ])('does not run %s [S2.14 adv.B1 adv.B3 adv.B5 adv.B6]', async (command) => {
    const workspace = repository({ 'a.txt': 'one\n' });

    expect(await use(git, workspace, { command })).toMatchObject({
      ok: false,
      output: { error: expect.stringMatching(/^(?:git_refused|path_outside)$/) },
    });
    expect(existsSync(join(workspace.root, 'planted'))).toBe(false);
  });

  test('shows what changed, and merges', async () => {
    const workspace = repository({ 'a.txt': 'one\n' });
    inRepository(workspace, 'add', 'a.txt');
    inRepository(workspace, 'commit', '-qm', 'one');
    inRepository(workspace, 'checkout', '-qb', 'side');
    writeFileSync(join(workspace.root, 'a.txt'), 'two\n');

    const changed = outputOf(await use(git, workspace, { command: 'git diff HEAD' }));
    expect(changed).toMatchObject({ exit_code: 0, stdout: expect.stringContaining('+two') });

    inRepository(workspace, 'commit', '-qam', 'two');
    inRepository(workspace, 'checkout', '-q', 'main');
    for (const command of ['git merge -q -Xours side', 'git rebase -m -X theirs side'])
      expect(outputOf(await use(git, workspace, { command })), command).toMatchObject({ exit_code: 0 });
    expect(readFileSync(join(workspace.root, 'a.txt'), 'utf8')).toBe('two\n');
  });

  test.each(['git commit -q --allow-empty -S -m x', 'git tag -s v1 -m x'])(
    'signs with nobody’s key: %s',
    async (command) => {
      const workspace = repository({ 'a.txt': 'one\n' });
      inRepository(workspace, 'add', 'a.txt');
      inRepository(workspace, 'commit', '-qm', 'one');
      const programs = workspaceWith({ gpg: `#!/bin/sh\ntouch ${workspace.root}/planted\n` });
      chmodSync(join(programs.root, 'gpg'), 0o755);
      vi.stubEnv('PATH', `${programs.root}:${process.env.PATH}`);

      await use(git, workspace, { command });

      expect(existsSync(join(workspace.root, 'planted'))).toBe(false);
    },
  );

  test('makes no link, and reads and removes nothing behind one that took the place of a folder', async () => {
    const workspace = repository({ 'd/secret.txt': 'ours\n' });
    const { root, outside } = workspace;
    mkdirSync(join(outside, 'far'));
    writeFileSync(join(outside, 'far/secret.txt'), 'the secret\n');
    inRepository(workspace, 'add', '.');
    inRepository(workspace, 'commit', '-qm', 'a folder');
    inRepository(workspace, 'checkout', '-qb', 'link');
    rmSync(join(root, 'd'), { recursive: true });
    symlinkSync(join(outside, 'far'), join(root, 'd'));
    inRepository(workspace, 'add', '.');
    inRepository(workspace, 'commit', '-qm', 'a link');

    // The link is there, and the index names what is behind it.
    inRepository(workspace, 'reset', '-q', 'main');
    for (const command of ['git grep -h ""', 'git add -u', 'git commit -qam x', 'git rm -rf d', 'git stash'])
      expect(await use(git, workspace, { command }), command).toMatchObject({
        output: { error: 'path_is_link' },
      });
    for (const command of ['git diff HEAD:d/secret.txt d/secret.txt', 'git rm -rf d/'])
      expect(await use(git, workspace, { command }), command).toMatchObject({
        output: { error: 'path_is_link' },
      });
    expect(readFileSync(join(outside, 'far/secret.txt'), 'utf8')).toBe('the secret\n');

    rmSync(join(root, 'd'));
    expect(outputOf(await use(git, workspace, { command: 'git checkout -q -f link' })).exit_code).toBe(0);
    expect(lstatSync(join(root, 'd')).isSymbolicLink()).toBe(false);
  });

  test('uses the repository that it looked at, also where a folder becomes another one in between', async () => {
    const workspace = repository({
      'notes/sub/HEAD': 'not yet\n',
      'notes/sub/config': '',
      'notes/sub/objects/info/alternates': '\n',
      'notes/sub/refs/heads/keep': '',
      'notes/sub/.gitattributes': 'z filter=x\n',
      'notes/sub/z': 'z\n',
    });
    const { root } = workspace;
    const becomes = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${root}\n[filter "x"]\n\tclean = "touch ${root}/planted; cat"\n`;
    writeFileSync(join(root, 'notes/sub/config'), becomes);
    // Right after the last look, which is at the configuration.
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const programs = workspaceWith({
      git: `#!/bin/sh\n${real} "$@"\ncode=$?\ncase "$*" in *--show-scope*) echo 'ref: refs/heads/main' > ${root}/notes/sub/HEAD;; esac\nexit $code\n`,
    });
    chmodSync(join(programs.root, 'git'), 0o755);
    vi.stubEnv('PATH', `${programs.root}:${process.env.PATH}`);

    const added = await use(git, workspace, { command: 'git add z', cwd: 'notes/sub' });

    expect(readFileSync(join(root, 'notes/sub/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
    expect(existsSync(join(root, 'planted'))).toBe(false);
    expect(added).toMatchObject({ ok: true });
  });

  test('runs no hook of the repository', async () => {
    const workspace = repository({ 'a.txt': 'one\n' });
    plantHook(workspace, '.git/hooks/pre-commit');
    plantHook(workspace, 'hooks/post-commit');
    inRepository(workspace, 'config', 'core.hooksPath', 'hooks');

    await use(git, workspace, { command: 'git add a.txt' });
    expect(await use(git, workspace, { command: 'git commit -qm x' })).toMatchObject({ ok: true });

    expect(existsSync(join(workspace.root, 'planted'))).toBe(false);
  });

  test.each([
    ['core.fsmonitor', 'touch planted; false'],
    ['core.pager', 'touch planted'],
    ['core.editor', 'touch planted'],
    ['core.sshCommand', 'touch planted'],
    ['alias.status', '!touch planted'],
  ])('starts nothing that the repository sets as %s', async (key, value) => {
    const workspace = repository({ 'a.txt': 'one\n' });
    inRepository(workspace, 'add', 'a.txt');
    inRepository(workspace, 'commit', '-qm', 'x');
    writeFileSync(join(workspace.root, 'a.txt'), 'two\n');
    inRepository(workspace, 'config', key, value);

    for (const command of ['git status', 'git diff', 'git commit -a', 'git log -p']) {
      await use(git, workspace, { command });
    }

    expect(existsSync(join(workspace.root, 'planted'))).toBe(false);
  });

  test.each([
    ['filter.x.clean', 'touch planted; cat'],
    ['filter.x.process', 'touch planted'],
    ['diff.external', 'touch planted'],
    ['diff.x.textconv', 'touch planted'],
    ['diff.x.command', 'touch planted'],
    ['merge.x.driver', 'touch planted'],
    ['gpg.program', 'touch planted'],
    ['remote.origin.uploadpack', 'touch planted'],
    ['trailer.x.cmd', 'touch planted'],
    ['core.worktree', '/tmp'],
    ['core.gitProxy', 'touch planted'],
    ['rebase.instructionFormat', '%s%nexec touch planted'],
    ['core.excludesFile', '/etc/passwd'],
    ['include.path', '/tmp/other'],
  ])('is not run at all where the repository sets %s, which no setting undoes', async (key, value) => {
    const workspace = repository({ 'a.txt': 'one\n', '.gitattributes': '* filter=x diff=x merge=x\n' });
    inRepository(workspace, 'config', key, value);

    expect(await use(git, workspace, { command: 'git add a.txt' })).toMatchObject({
      ok: false,
      output: { error: 'git_refused' },
    });
    expect(existsSync(join(workspace.root, 'planted'))).toBe(false);
  });

  test('uses the repository of the workspace and no other', async () => {
    const above = repository({});
    mkdirSync(join(above.root, 'inner'));

    expect(await use(git, { root: join(above.root, 'inner') }, { command: 'git status' })).toMatchObject({
      output: { error: 'no_repository' },
    });

    const outer = repository({ 'nested/a': '' });
    inRepository({ root: join(outer.root, 'nested'), outside: '' }, 'init', '-q');
    expect(await use(git, outer, { command: 'git status', cwd: 'nested' })).toMatchObject({
      output: { error: 'git_refused' },
    });
  });
});

function repository(files: Readonly<Record<string, string>>): Workspace {
  const workspace = workspaceWith(files);
  inRepository(workspace, 'init', '-q', '-b', 'main');
  inRepository(workspace, 'config', 'user.name', 'Test');
  inRepository(workspace, 'config', 'user.email', 'test@example.com');
  return workspace;
}

function inRepository({ root }: Workspace, ...words: readonly string[]): void {
  execFileSync('git', words, { cwd: root });
}

function plantHook({ root }: Workspace, path: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), '#!/bin/sh\ntouch planted\n');
  chmodSync(join(root, path), 0o755);
}

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bash } from './bash.ts';
import { outputOf, use, type Workspace, workspaceWith } from './fixtures/workspace.ts';
import { git } from './git.ts';

describe('bash', () => {
  test('runs a line in the workspace and gives exit code and output', async () => {
    const workspace = workspaceWith({ 'src/a.ts': 'x' });

    expect(await use(bash, workspace, { command: 'ls src && echo bad >&2; exit 3' })).toEqual({
      ok: false,
      exitCode: 3,
      output: { exit_code: 3, stdout: 'a.ts\n', stderr: 'bad\n', truncated: false },
    });
    expect(outputOf(await use(bash, workspace, { command: 'pwd', cwd: './src' })).stdout).toBe(
      `${workspace.root}/src\n`,
    );
  });

  test('passes on nothing of our environment', async () => {
    const workspace = workspaceWith();
    for (const name of ['PHASEGATE_KEY', 'ORCHESTRATOR_JWT_SECRET', 'GITHUB_TOKEN', 'BASH_ENV']) {
      vi.stubEnv(name, 'a-secret-of-ours');
    }
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });

    const { stdout } = outputOf(await use(bash, workspace, { command: 'env' }));

    expect(stdout).not.toContain('a-secret-of-ours');
    expect(stdout).toContain('PATH=');
  });

  test('finds no program of the workspace under a bare name', async () => {
    const workspace = workspaceWith({ 'bin/tool': '#!/bin/sh\necho planted\n' });
    chmodSync(join(workspace.root, 'bin/tool'), 0o755);
    vi.stubEnv('PATH', `${workspace.root}/bin:.:${process.env.PATH}`);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });

    expect(await use(bash, workspace, { command: 'tool' })).toMatchObject({ ok: false, exitCode: 127 });
  });

  test('keeps the end of a flood and lets the command finish', async () => {
    const workspace = workspaceWith();

    const result = await use(bash, workspace, { command: 'seq 1 100000; echo the end' });

    expect(result.ok).toBe(true);
    const { stdout, truncated } = outputOf(result);
    expect(truncated).toBe(true);
    expect(String(stdout).endsWith('100000\nthe end\n')).toBe(true);
    expect(String(stdout).length).toBeLessThanOrEqual(64 * 1024);
  });

  test('kills all it started when the time is up', async () => {
    const workspace = workspaceWith();
    const command = 'sleep 300 & echo $! > pid; sleep 300';

    const result = await use(bash, workspace, { command, timeout_ms: 500 });

    expect(result).toMatchObject({ ok: false, exitCode: null, output: { error: 'timed_out' } });
    const pid = Number(readFileSync(join(workspace.root, 'pid'), 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 10_000, interval: 20 });
  });

  test('is ended with its phase', async () => {
    const workspace = workspaceWith();
    const controller = new AbortController();
    const running = use(
      bash,
      workspace,
      { command: 'touch started; sleep 300' },
      { signal: controller.signal },
    );
    await vi.waitUntil(() => existsSync(join(workspace.root, 'started')), { timeout: 10_000 });

    controller.abort();

    expect(await running).toMatchObject({ ok: false, output: { error: 'aborted' } });
  });

  test.each([
    [{ command: 'ls', env: {} }],
    [{ command: ['ls'] }],
    [{ command: '' }],
    [{ command: 'ls', timeout_ms: 600_001 }],
    [{ command: 'ls', timeout_ms: 0 }],
    [{}],
  ])('refuses %j', async (input) => {
    expect(await use(bash, workspaceWith(), input)).toMatchObject({
      ok: false,
      output: { error: 'input_invalid' },
    });
  });

  test('a NUL in a line starts nothing', async () => {
    expect(await use(bash, workspaceWith(), { command: 'ls\0; touch x' })).toMatchObject({
      ok: false,
      output: { error: 'not_started' },
    });
  });
});

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
  ])('does not run %s [S2.14 adv.B1 adv.B3 adv.B5 adv.B6]', async (command) => {
    const workspace = repository({ 'a.txt': 'one\n' });

    expect(await use(git, workspace, { command })).toMatchObject({
      ok: false,
      output: { error: expect.stringMatching(/^(?:git_refused|path_outside)$/) },
    });
    expect(existsSync(join(workspace.root, 'planted'))).toBe(false);
  });

  test('shows what changed, and merges by the strategies that git has of its own', async () => {
    const workspace = repository({ 'a.txt': 'one\n' });
    inRepository(workspace, 'add', 'a.txt');
    inRepository(workspace, 'commit', '-qm', 'one');
    inRepository(workspace, 'checkout', '-qb', 'side');
    writeFileSync(join(workspace.root, 'a.txt'), 'two\n');

    const changed = outputOf(await use(git, workspace, { command: 'git diff HEAD' }));
    expect(changed).toMatchObject({ exit_code: 0, stdout: expect.stringContaining('+two') });

    inRepository(workspace, 'commit', '-qam', 'two');
    inRepository(workspace, 'checkout', '-q', 'main');
    for (const command of ['git merge -q -Xours -s ort side', 'git rebase -Xtheirs --strategy=ort side'])
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

      expect(outputOf(await use(git, workspace, { command })).exit_code).not.toBe(0);

      expect(existsSync(join(workspace.root, 'planted'))).toBe(false);
    },
  );

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

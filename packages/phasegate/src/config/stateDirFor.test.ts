import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { stateDirFor } from './stateDirFor.ts';

test('state lives under XDG_STATE_HOME, by the name of the project and the hash of its real path', () => {
  const root = folder('my project');
  const home = folder('state');
  const link = join(folder('links'), 'link');
  symlinkSync(root, link);

  const stateDir = stateDirFor(root, { XDG_STATE_HOME: home });

  expect(stateDir.startsWith(join(home, 'phasegate'))).toBe(true);
  expect(basename(stateDir)).toMatch(/^my_project-[0-9a-f]{16}$/);
  expect(stateDirFor(link, { XDG_STATE_HOME: home })).toBe(stateDir);
});

test('without XDG_STATE_HOME, or with a relative one, it is below the home folder', () => {
  const root = folder('project');
  const HOME = folder('home');
  const expected = join(HOME, '.local', 'state', 'phasegate');

  expect(stateDirFor(root, { HOME }).startsWith(expected)).toBe(true);
  expect(stateDirFor(root, { HOME, XDG_STATE_HOME: 'state' }).startsWith(expected)).toBe(true);
});

test('a state directory inside the workspace is refused, also through a symlink', () => {
  const root = folder('project');
  mkdirSync(join(root, 'inside'));
  const link = join(folder('links'), 'state');
  symlinkSync(join(root, 'inside'), link);

  for (const XDG_STATE_HOME of [join(root, 'not', 'yet', 'there'), link]) {
    expect(() => stateDirFor(root, { XDG_STATE_HOME })).toThrow('inside the workspace');
  }
  expect(() => stateDirFor(root, { HOME: root })).toThrow('inside the workspace');
});

test('all worktrees of a repository share the state of the main one', () => {
  const { main, linked } = worktrees();
  const env = { XDG_STATE_HOME: folder('state') };
  mkdirSync(join(linked, 'packages', 'app'), { recursive: true });

  expect(stateDirFor(linked, env)).toBe(stateDirFor(main, env));
  expect(stateDirFor(join(linked, 'packages', 'app'), env)).not.toBe(stateDirFor(main, env));
  expect(() => stateDirFor(linked, { XDG_STATE_HOME: join(main, 'state') })).toThrow('inside the workspace');
});

test("a forged `.git` file cannot point at another project's state", () => {
  const { main, linked } = worktrees();
  const env = { XDG_STATE_HOME: folder('state') };
  const forger = folder('forger');
  writeFileSync(join(forger, '.git'), `gitdir: ${join(main, '.git', 'worktrees', basename(linked))}\n`);

  expect(stateDirFor(forger, env)).not.toBe(stateDirFor(main, env));
});

function worktrees(): { readonly main: string; readonly linked: string } {
  const main = folder('repository');
  const linked = join(folder('elsewhere'), 'linked');
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
      cwd: main,
      stdio: 'pipe',
    });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('worktree', 'add', '-q', linked);
  return { main, linked };
}

function folder(name: string): string {
  const path = join(mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-state-')), name);
  mkdirSync(path);
  return path;
}

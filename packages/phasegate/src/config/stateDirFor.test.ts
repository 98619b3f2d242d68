import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ownStateDir, stateDirFor } from './stateDirFor.ts';
import { writeWorktreeRecord } from './worktreeRecord.ts';
import { claimedMain } from './worktrees.ts';

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

test('a worktree shares the state of its main folder once that is on record, and not because `.git` says so', () => {
  const { main, linked } = worktrees();
  const env = { XDG_STATE_HOME: folder('state') };
  expect(claimedMain(linked)).toBe(main);
  expect(stateDirFor(linked, env)).not.toBe(stateDirFor(main, env));

  writeWorktreeRecord(ownStateDir(linked, env), { main });

  expect(stateDirFor(linked, env)).toBe(stateDirFor(main, env));
  expect(readdirSync(join(env.XDG_STATE_HOME, 'phasegate'))).toEqual([basename(ownStateDir(linked, env))]);
  rmSync(join(linked, '.git'));
  expect(stateDirFor(linked, env)).toBe(stateDirFor(main, env));
  mkdirSync(join(linked, 'packages', 'app'), { recursive: true });
  expect(stateDirFor(join(linked, 'packages', 'app'), env)).not.toBe(stateDirFor(main, env));
});

test('a state directory inside the main folder is refused in a worktree too', () => {
  const { main, linked } = worktrees();
  const env = { XDG_STATE_HOME: join(main, 'state') };
  writeWorktreeRecord(ownStateDir(linked, env), { main });

  expect(() => stateDirFor(linked, env)).toThrow('inside the workspace');
});

test('a folder in a linked worktree says that it is the same folder of the main one', () => {
  const { main, linked } = worktrees();
  mkdirSync(join(linked, 'packages', 'app'), { recursive: true });

  expect(claimedMain(join(linked, 'packages', 'app'))).toBe(join(main, 'packages', 'app'));
  expect(claimedMain(main)).toBe(null);
  expect(claimedMain(folder('plain'))).toBe(null);
});

test('a folder with a state of its own is not put on record, and its state stays', () => {
  const { main, linked } = worktrees();
  const env = { XDG_STATE_HOME: folder('state') };
  const own = ownStateDir(linked, env);
  mkdirSync(own, { recursive: true });

  expect(() => writeWorktreeRecord(own, { main })).toThrow('has a state of its own');
  expect(stateDirFor(linked, env)).toBe(own);
});

test.each([
  ['garbage', (file: string) => writeFileSync(file, 'garbage'), 'store_corrupt'],
  ['a relative path', (file: string) => writeFileSync(file, '{"main":"x"}'), 'store_corrupt'],
  ['others who can write it', (file: string) => chmodSync(dirname(file), 0o777), 'store_unavailable'],
])('a record spoiled by %s is refused: it does not become a fresh state', (_, spoil, code) => {
  const { main, linked } = worktrees();
  const env = { XDG_STATE_HOME: folder('state') };
  writeWorktreeRecord(ownStateDir(linked, env), { main });
  spoil(join(ownStateDir(linked, env), 'worktree.json'));

  expect(() => stateDirFor(linked, env)).toThrow(expect.objectContaining({ code }));
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

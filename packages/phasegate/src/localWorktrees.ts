import { existsSync, lstatSync, mkdirSync, realpathSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { oneLine, reasonOf, shellWord } from '@phasegate/core/model';
import {
  dropWorktreeRecord,
  ownStateDir,
  stateDirFor,
  worktreeRecordIn,
  writeWorktreeRecord,
} from './config.ts';
import { newRunId } from './newRunId.ts';
import type { RunWorktree, Worktrees } from './runtime/ports.ts';
import { cleanEnvironment } from './workspace/cleanEnvironment.ts';
import { GIT_SETTINGS, gitEnvironment, startsProgram } from './workspace/gitSettings.ts';
import { runProgram } from './workspace/runProgram.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Git worktrees that runs have to themselves, in a folder beside the project. Git is run as the tool `git` runs it: a
 * repository whose own config starts programs is refused, and hooks are switched off.
 */
export function localWorktrees(env: Env): Worktrees {
  return {
    async make(root) {
      const run = newRunId();
      const main = requireMain(root, env);
      const git = gitIn(main, env);
      await requireRepository(git, main);
      await requireNoPrograms(git);
      const { folder, branch } = placeOf(main, run);
      await requireCommit(git);
      await requireUnchanged(git);
      if ((await git(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])).code === 0)
        throw failed(`there is a branch \`${branch}\` already`, `git branch -d ${shellWord(branch)}`);
      if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined)
        throw failed(`\`${folder}\` is there already`, 'move it away; nothing was changed');
      makeParent(dirname(folder));
      const added = await git(['worktree', 'add', '--quiet', '-b', branch, folder, 'HEAD']);
      const undo = async () => {
        await git(['worktree', 'remove', '--force', folder]);
        await git(['branch', '-D', branch]);
        dropWorktreeRecord(ownStateDir(folder, env));
        dropEmpty(dirname(folder));
      };
      try {
        if (added.code !== 0)
          throw failed(`git could not make \`${folder}\`: ${added.said}`, 'git worktree list');
        // What is made by a checkout can be a link; the record is of where it really is.
        writeWorktreeRecord(ownStateDir(realpathSync(folder), env), { main, run });
      } catch (error) {
        await undo();
        throw error;
      }
      return { folder: realpathSync(folder), branch, undo };
    },

    async list(root) {
      const main = mainOf(root, env);
      const listed = await gitIn(main, env)(['worktree', 'list', '--porcelain', '-z']);
      if (listed.code !== 0) return [];
      return listed.out
        .split('\0\0')
        .flatMap((text) => worktreeIn(text))
        .filter(({ folder, run }) => worktreeRecordIn(ownStateDir(folder, env))?.run === run);
    },

    async remove(root, run) {
      const main = mainOf(root, env);
      const { folder, branch } = placeOf(main, run);
      if (!existsSync(folder))
        throw new PhasegateError('usage', `there is no worktree of run \`${run}\``, {
          hint: 'phasegate worktree list',
        });
      const [git, there] = [gitIn(main, env), gitIn(folder, env)];
      await requireNoPrograms(there);
      const status = await there([
        'status',
        '--porcelain',
        '--untracked-files=all',
        '--ignore-submodules=none',
      ]);
      if (status.code !== 0)
        throw failed(`git cannot say what is in \`${folder}\`: ${status.said}`, 'git status');
      if (status.out.trim() !== '') throw uncommitted(folder, status.out);
      const removed = await git(['worktree', 'remove', folder]);
      if (removed.code !== 0)
        throw failed(`git did not remove \`${folder}\`: ${removed.said}`, 'git worktree list');
      dropWorktreeRecord(ownStateDir(folder, env));
      dropEmpty(dirname(folder));
      // Git deletes a branch only where its commits are in another one.
      const dropped = (await git(['branch', '-d', branch])).code === 0;
      return { folder, branch, branchKept: !dropped };
    },
  };
}

/** Where the worktree of a run is, and its branch: beside the project, whose own folder stays as it is. */
function placeOf(main: string, run: string): { readonly folder: string; readonly branch: string } {
  return {
    folder: join(dirname(main), `${basename(main)}.worktrees`, run),
    branch: `phasegate/${run}`,
  };
}

/** The main folder of a project, asked from there or from a worktree of it. */
function mainOf(root: string, env: Env): string {
  const here = realpathSync(root);
  return worktreeRecordIn(ownStateDir(here, env))?.main ?? here;
}

function requireMain(root: string, env: Env): string {
  const here = realpathSync(root);
  if (worktreeRecordIn(ownStateDir(here, env)) === null) {
    stateDirFor(here, env);
    return here;
  }
  throw failed(
    `\`${here}\` is a worktree itself`,
    `phasegate --project ${shellWord(mainOf(here, env))} start …`,
  );
}

interface GitEnded {
  readonly code: number | null;
  readonly out: string;
  /** The last line of what it said. */
  readonly said: string;
}

type Git = (words: readonly string[]) => Promise<GitEnded>;

function gitIn(cwd: string, env: Env): Git {
  const environment = cleanEnvironment(env, cwd, gitEnvironment(cwd));
  return async (words) => {
    const ended = await runProgram({
      argv: ['git', '--no-pager', ...GIT_SETTINGS.flatMap((setting) => ['-c', setting]), ...words],
      cwd,
      environment,
      timeoutMs: 120_000,
      maxOutputBytes: 64 * 1024 * 1024,
      signal: new AbortController().signal,
    });
    if (ended.how.kind === 'not_started') throw failed('git is not installed here', 'install git');
    const said = ended.tail.toString().trim().split('\n').at(-1) ?? '';
    return {
      code: ended.how.kind === 'exited' ? ended.how.code : null,
      out: ended.stdout.toString(),
      said: oneLine(said),
    };
  };
}

const FIRST_COMMIT = 'git add --all && git commit --message "first commit"';

async function requireRepository(git: Git, main: string): Promise<void> {
  const bare = await git(['rev-parse', '--is-bare-repository']);
  if (bare.code !== 0)
    throw failed(
      `\`${main}\` is not a git repository, so no worktree can be made of it`,
      `git init && ${FIRST_COMMIT}`,
    );
  if (bare.out.trim() === 'true')
    throw failed(`\`${main}\` is a bare repository: it has no files to work on`, 'clone it first');
  const top = (await git(['rev-parse', '--show-toplevel'])).out.trim();
  if (top === '' || realpathSync(top) !== main)
    throw failed(
      `\`${main}\` is not the top folder of its git repository`,
      'start the run without `--worktree`',
    );
}

async function requireNoPrograms(git: Git): Promise<void> {
  const listed = await git(['config', '--list', '--show-scope', '--name-only', '-z']);
  if (listed.code !== 0)
    throw failed('the configuration of the repository cannot be read', 'git config --list');
  const fields = listed.out.split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, key = ''] = [fields[at], fields[at + 1]];
    if ((scope === 'local' || scope === 'worktree') && startsProgram(key))
      throw failed(
        `the repository's own configuration sets \`${key}\`, which can start a program`,
        `git config --unset ${shellWord(key)}`,
      );
  }
}

async function requireCommit(git: Git): Promise<void> {
  if ((await git(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).code === 0) return;
  throw failed('the repository has no commit yet, so there is nothing to work from', FIRST_COMMIT);
}

/** The worktree is of what is committed: what is only staged would be left behind unsaid. */
async function requireUnchanged(git: Git): Promise<void> {
  const staged = await git(['diff', '--cached', '--name-only', '-z', '--no-ext-diff', '--no-textconv']);
  if (staged.code !== 0) throw failed('the index of the repository cannot be read', 'git status');
  const paths = staged.out.split('\0').filter((path) => path !== '');
  if (paths.length === 0) return;
  throw failed(
    `${pathsText(paths)} ${paths.length === 1 ? 'is' : 'are'} staged and not committed, and a worktree begins at the last commit`,
    'commit first, or unstage with `git restore --staged .`',
  );
}

function uncommitted(folder: string, status: string): PhasegateError {
  const paths = status
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(3));
  return failed(
    `\`${folder}\` has work that is not committed: ${pathsText(paths)}`,
    `commit it there (\`git -C ${shellWord(folder)} commit\`), or throw it away yourself with \`git worktree remove --force\``,
  );
}

function pathsText(paths: readonly string[]): string {
  const told = paths.slice(0, 5).map((path) => `\`${oneLine(path)}\``);
  return `${told.join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}`;
}

/** One block of `git worktree list`, where it is the worktree of a run. */
function worktreeIn(text: string): readonly RunWorktree[] {
  const lines = text.split('\0');
  const folder = lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length);
  const branch = lines.find((line) => line.startsWith('branch '))?.slice('branch refs/heads/'.length);
  if (folder === undefined || branch === undefined || !branch.startsWith('phasegate/')) return [];
  return [{ folder, branch, run: branch.slice('phasegate/'.length) }];
}

function makeParent(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw failed(
      `\`${folder}\` cannot be made: ${reasonOf(error)}`,
      'make its folder one that you can write to',
    );
  }
}

/** The folder of worktrees goes with the last of them. */
function dropEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Others are in it.
  }
}

function failed(message: string, hint: string): PhasegateError {
  return new PhasegateError('worktree_failed', message, { hint });
}

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { withoutSecrets } from '../launch/withoutSecrets.ts';
import type { WorkerRepository } from '../runtime/ports.ts';
import { runProgram } from '../workspace/runProgram.ts';

/** A clone that one run has to itself. */
export interface GitWorkspace {
  readonly folder: string;
  readonly branch: string;
  /** Sends the run's branch to the repository; false where it has no commit that is not there. */
  push(): Promise<boolean>;
  /** How many files were not committed. */
  uncommitted(): Promise<number>;
}

/** Makes clones of one repository. */
export interface GitWorkspaces {
  /** Fetches the repository, and throws where that is not possible. */
  fetch(): Promise<void>;
  make(run: string): Promise<GitWorkspace>;
}

/** Where clones are made, and with which environment. */
export interface GitPlace {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * Clones of a repository, one for each run. What was fetched is kept in a copy of the worker's own, in which no agent
 * works; clones share nothing with it, so that an agent cannot change what the next one gets.
 */
export function gitWorkspaces(repository: WorkerRepository, place: GitPlace): GitWorkspaces {
  const mirror = join(place.folder, 'repository.git');
  let turn: Promise<unknown> = Promise.resolve();

  /** One after the other: git's own locks would refuse the second. */
  const alone = <T>(act: () => Promise<T>): Promise<T> => {
    const mine = turn.then(act);
    turn = mine.catch(() => undefined);
    return mine;
  };

  const git = async (words: readonly string[], signal = place.signal): Promise<string> => {
    const { how, stdout, stderr } = await runProgram({
      argv: ['git', ...SETTINGS.flatMap((setting) => ['-c', setting]), ...words],
      cwd: place.folder,
      environment: { ...withoutSecrets(place.env), ...QUIET },
      timeoutMs: GIT_MS,
      maxOutputBytes: MOST_OUTPUT,
      tailBytes: MOST_OUTPUT,
      signal,
    });
    if (how.kind === 'exited' && how.code === 0) return stdout.toString('utf8');
    const said = oneLine(stderr.toString('utf8').trim().split('\n').at(-1) ?? '');
    const why = how.kind === 'exited' ? said : how.kind === 'not_started' ? 'git is not installed' : how.kind;
    throw new PhasegateError('worktree_failed', `git ${words[0] === '-C' ? words[2] : words[0]}: ${why}`, {
      hint: 'see that `--repo` names a repository that this user can clone without being asked',
    });
  };

  const fetchAll = () =>
    alone(async () => {
      if (existsSync(mirror)) return git(['-C', mirror, 'fetch', '--quiet', '--prune', 'origin']);
      const half = `${mirror}.half`;
      rmSync(half, { recursive: true, force: true });
      await git(['clone', '--quiet', '--bare', '--', repository.url, half]);
      await git(['-C', half, 'config', 'remote.origin.fetch', '+refs/heads/*:refs/heads/*']);
      // Only whole: what is half there would be fetched into for ever.
      return git(['-C', half, 'rev-parse', '--git-dir']).then(() => renamed(half, mirror));
    });

  return {
    async fetch() {
      await fetchAll();
      await beginning(git, mirror, { branch: '', ref: repository.ref });
    },
    async make(run) {
      await fetchAll();
      const branch = `phasegate/${run}`;
      const folder = join(place.folder, 'runs', run);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(join(place.folder, 'runs'), { recursive: true, mode: 0o700 });
      const start = await beginning(git, mirror, { branch, ref: repository.ref });
      await git(['clone', '--quiet', '--no-hardlinks', '--no-checkout', '--', mirror, folder]);
      await git(['-C', folder, 'remote', 'set-url', 'origin', repository.url]);
      await git(['-C', folder, 'checkout', '--quiet', '-B', branch, start]);
      return {
        folder,
        branch,
        push: () =>
          alone(async () => {
            const kept = `refs/worked/${run}`;
            // Asked of the worker's copy, whose settings no agent writes.
            await git(['-C', mirror, 'fetch', '--quiet', '--', folder, `+refs/heads/${branch}:${kept}`]);
            const end = (await git(['-C', mirror, 'rev-parse', kept])).trim();
            if (end === start) return false;
            await git(['-C', mirror, 'push', '--quiet', 'origin', `${kept}:refs/heads/${branch}`]);
            return true;
          }),
        async uncommitted() {
          const listed = await git(['-C', folder, 'status', '--porcelain', '-z', '--untracked-files=all']);
          return listed.split('\0').filter((line) => line !== '').length;
        },
      };
    },
  };
}

/** Work of the same run that was pushed before is taken up; else it begins where the worker was told. */
async function beginning(
  git: (words: readonly string[]) => Promise<string>,
  mirror: string,
  { branch, ref }: { readonly branch: string; readonly ref: string | null },
): Promise<string> {
  const commit = (name: string) =>
    git(['-C', mirror, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  const before = branch === '' ? null : await commit(`refs/heads/${branch}`).catch(() => null);
  if (before !== null) return before.trim();
  try {
    return (await commit(ref ?? 'HEAD')).trim();
  } catch (cause) {
    throw new PhasegateError('worktree_failed', `the repository has no commit \`${ref ?? 'HEAD'}\``, {
      hint: 'name a branch, a tag or a commit with `--ref`',
      cause,
    });
  }
}

function renamed(from: string, to: string): string {
  renameSync(from, to);
  return '';
}

const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'protocol.ext.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
] as const;

/** Nobody is there to be asked. */
const QUIET = { GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: '', SSH_ASKPASS: '', GIT_EDITOR: 'false' };
const GIT_MS = 600_000;
const MOST_OUTPUT = 4_000_000;

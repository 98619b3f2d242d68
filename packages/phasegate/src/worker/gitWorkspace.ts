import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { withoutSecrets } from '../launch/withoutSecrets.ts';
import type { WorkerRepository } from '../runtime/ports.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { runProgram } from '../workspace/runProgram.ts';
import { demandPlainClone } from './demandPlainClone.ts';
import { demandRunId } from './demandRunId.ts';

/** A clone that one run has to itself. */
export interface GitWorkspace {
  readonly folder: string;
  readonly branch: string;
  /** Sends the run's branch to the repository; false where it has no commit that is not there. */
  push(): Promise<boolean>;
  /** How many files differ from the last commit of the run's branch. */
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
 * Clones of a repository, one for each run. What was fetched is kept in a copy of the worker's own; clones share nothing
 * with it. Agents of the same user could write in it all the same: so where it fetches from and pushes to is told anew each
 * time, and its settings are put back before. Objects that somebody put there are not looked for.
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

  let settings: ReadonlyMap<string, Buffer> | null = null;

  const git = async (
    words: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> => {
    const { how, stdout, stderr } = await runProgram({
      argv: ['git', ...SETTINGS.flatMap((setting) => ['-c', setting]), ...words],
      cwd: place.folder,
      environment: { ...withoutSecrets(place.env), ...QUIET, ...more },
      timeoutMs: GIT_MS,
      maxOutputBytes: MOST_OUTPUT,
      tailBytes: MOST_OUTPUT,
      signal: place.signal,
    });
    if (how.kind === 'exited' && how.code === 0) return stdout.toString('utf8');
    const said = oneLine(stderr.toString('utf8').trim().split('\n').at(-1) ?? '');
    const why = how.kind === 'exited' ? said : how.kind === 'not_started' ? 'git is not installed' : how.kind;
    throw new PhasegateError('worktree_failed', `git ${words[0] === '-C' ? words[2] : words[0]}: ${why}`, {
      hint: 'see that `--repo` names a repository that this user can clone without being asked',
    });
  };

  const putBack = () => {
    rmSync(join(mirror, 'commondir'), { recursive: true, force: true });
    for (const [name, bytes] of settings ?? []) {
      rmSync(join(mirror, name), { recursive: true, force: true });
      writeFileSync(join(mirror, name), bytes);
    }
  };

  const fetchAll = () =>
    alone(async () => {
      if (settings !== null && existsSync(mirror)) {
        putBack();
        const fetch = ['fetch', '--quiet', '--prune', '--no-write-fetch-head', '--', repository.url];
        await git(['-C', mirror, ...fetch, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']);
        return;
      }
      const half = `${mirror}.half`;
      for (const folder of [half, mirror]) rmSync(folder, { recursive: true, force: true });
      await git(['clone', '--quiet', '--bare', '--', repository.url, half]);
      // The address may hold a password.
      await git(['-C', half, 'remote', 'remove', 'origin']);
      const read = async (name: string) => (await readBeneath(half, name, MOST_OUTPUT)).content;
      settings = new Map([
        ['config', await read('config')],
        ['HEAD', await read('HEAD')],
      ]);
      // Only whole: what is half there would be fetched into for ever.
      renameSync(half, mirror);
    });

  return {
    async fetch() {
      await fetchAll();
      await beginning(git, mirror, { branch: '', ref: repository.ref });
    },
    async make(run) {
      demandRunId(run);
      await fetchAll();
      const branch = `phasegate/${run}`;
      const folder = join(place.folder, 'runs', run);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(join(place.folder, 'runs'), { recursive: true, mode: 0o700 });
      const start = await beginning(git, mirror, { branch, ref: repository.ref });
      // Not by copying files: what earlier runs left in the worker's copy is not for this one.
      await git(['clone', '--quiet', '--no-local', '--no-checkout', '--', mirror, folder]);
      await git(['-C', folder, 'remote', 'set-url', 'origin', withoutPassword(repository.url)]);
      await git(['-C', folder, 'checkout', '--quiet', '-B', branch, start]);

      /** The last commit of the branch, taken into the worker's copy: from then on nothing of the clone is asked. */
      const take = async (): Promise<string> => {
        await demandPlainClone(folder);
        putBack();
        const kept = `refs/worked/${run}`;
        const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', folder];
        await git(['-C', mirror, ...fetch, `+refs/heads/${branch}:${kept}`], NO_SETTINGS);
        return (await git(['-C', mirror, 'rev-parse', '--verify', `${kept}^{commit}`], NO_SETTINGS)).trim();
      };

      return {
        folder,
        branch,
        push: () =>
          alone(async () => {
            const end = await take();
            if (end === start) return false;
            await git(['-C', mirror, 'merge-base', '--is-ancestor', start, end], NO_SETTINGS).catch(
              (cause) => {
                throw new PhasegateError('worktree_failed', 'its commits do not go on from where it began', {
                  cause,
                });
              },
            );
            await git(['-C', mirror, 'push', '--quiet', '--', repository.url, `${end}:refs/heads/${branch}`]);
            return true;
          }),
        uncommitted: () =>
          alone(async () => {
            const end = await take();
            const index = join(place.folder, `${run}.index`);
            // With the worker's settings and an index of its own: those of the clone can name programs.
            const apart = { ...NO_SETTINGS, GIT_DIR: mirror, GIT_WORK_TREE: folder, GIT_INDEX_FILE: index };
            try {
              await git(['-C', folder, 'read-tree', end], apart);
              const changed = await git(['-C', folder, 'diff', ...DIFF], apart);
              const added = await git(
                ['-C', folder, 'ls-files', '-z', '--others', '--exclude-standard'],
                apart,
              );
              return `${changed}${added}`.split('\0').filter((name) => name !== '').length;
            } finally {
              rmSync(index, { force: true });
            }
          }),
      };
    },
  };
}

/** An address without what may be a secret in it: an agent reads it in its clone. */
function withoutPassword(url: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url;
  // Who one is at `ssh` is no secret, and needed; at others a token may stand there.
  const isSsh = /^(?:ssh|git\+ssh|ssh\+git):/i.test(url);
  const [, scheme = '', user = '', rest = ''] = /^([^/]*\/\/)([^/]*@)?(.*)$/s.exec(url) ?? [];
  const name = user.split(':')[0]?.replace(/@$/, '') ?? '';
  return `${scheme}${isSsh && name !== '' ? `${name}@` : ''}${rest}`;
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

/** Nobody is there to be asked, and no object is fetched because it is missing. */
const QUIET = {
  GIT_NO_LAZY_FETCH: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_EDITOR: 'false',
};
/** Where what an agent made is read: no filter of the user's runs on it either. */
const NO_SETTINGS = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
};
const DIFF = [
  '-z',
  '--name-only',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=all',
];
const GIT_MS = 600_000;
const MOST_OUTPUT = 4_000_000;

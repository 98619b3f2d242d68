import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import {
  claimedMain,
  isMarkedProject,
  namesOfPath,
  ownStateDir,
  readWorktreeRecord,
  realpathOfExisting,
  requireNoState,
  stateDirFor,
  writeWorktreeRecord,
} from './config.ts';
import type { OpenProject, Trust } from './runtime/ports.ts';

/** What finding a project needs. */
export interface Entering {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opens the project at a root. */
  open(root: string): Promise<OpenProject>;
}

/**
 * Refuses a folder that says it is a worktree of a project with humans, where none of them has accepted it: it would be
 * a project in which nobody has to accept anything. A state of its own does not help: anyone who came to the path first
 * made it, with humans of their choice. Only the record of an acceptance does.
 */
export async function requireAcceptedWorktree(root: string, { env, open }: Entering): Promise<void> {
  const main = claimedMain(root);
  if (main === null || ![root, main].every((folder) => existsSync(folder))) return;
  if (readWorktreeRecord(ownStateDir(realpathSync(root), env)) !== null) return;
  if (!hasStateIn(stateOf(main, env))) return;
  const humans = await asking({ root: main, open }, (project) => project.humans.list());
  if (humans.length === 0) return;
  throw new PhasegateError(
    'not_permitted',
    `\`${root}\` says it is a worktree of \`${main}\`, and no human of that project has accepted it`,
    { hint: `a human runs \`${worktreeWords(root, main)}\`` },
  );
}

/**
 * Refuses a path that was a project and leads elsewhere now. The state is that of the real path: anyone who puts a link in
 * the place of a project would give everybody who comes by the old name a project without humans.
 */
export async function requireSamePlace(named: string, { env, open }: Entering): Promise<void> {
  const states = namesOfPath(named)
    .flatMap(withParents)
    .filter((name) => hasStateIn(ownStateDir(name, env)));
  const moved = states.find((name) => realpathOfExisting(name) !== name);
  if (moved === undefined) return requireInside(named, states, open);
  const real = realpathOfExisting(moved);
  throw new PhasegateError('not_permitted', `\`${moved}\` was a project, and is a link to \`${real}\` now`, {
    hint: `put the folder back in its place; if you moved it yourself, name the new one: \`phasegate --project ${shellWord(real)} status\``,
  });
}

/** A link in a project with humans that leads out of it would give anyone who goes there another project. */
async function requireInside(
  named: string,
  projects: readonly string[],
  open: Entering['open'],
): Promise<void> {
  const real = realpathOfExisting(named);
  for (const root of projects.filter((one) => real !== one && !real.startsWith(`${one}${sep}`))) {
    if ((await asking({ root, open }, (project) => project.humans.list())).length === 0) continue;
    throw new PhasegateError('not_permitted', `\`${named}\` is a link that leads out of \`${root}\``, {
      hint: `if you mean the folder it leads to, name it: \`phasegate --project ${shellWord(real)} status\``,
    });
  }
}

/** The current folder by the name a shell gives it, with the links in it. */
export function namedFolder(env: Entering['env']): string {
  const [here, named] = [process.cwd(), env.PWD ?? ''];
  if (!isAbsolute(named)) return here;
  const [one, other] = [statSync(here), statSync(named, { throwIfNoEntry: false })];
  return one.ino === other?.ino && one.dev === other.dev ? named : here;
}

function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withParents(parent)];
}

/** The words by which a human of the main folder accepts a worktree. */
export function worktreeWords(worktree: string, main: string): string {
  return `phasegate trust --worktree ${shellWord(worktree)} --project ${shellWord(main)}`;
}

/** Asks a project something and closes it. */
export async function asking<T>(
  { root, open }: { readonly root: string; open(root: string): Promise<OpenProject> },
  ask: (project: OpenProject) => Promise<T>,
): Promise<T> {
  const project = await open(root);
  try {
    return await ask(project);
  } finally {
    await project.close();
  }
}

/** Null for a folder that can have no state, such as the one all state is in. */
export function stateOf(root: string, env: Entering['env']): string | null {
  try {
    return stateDirFor(root, env);
  } catch (error) {
    if (error instanceof PhasegateError && error.code === 'config_invalid') return null;
    throw error;
  }
}

/** Whether there is a state. `made` without a database is a lost one, and opening it says so. */
export function hasStateIn(stateDir: string | null): boolean {
  return stateDir !== null && ['state.db', 'made'].some((name) => existsSync(join(stateDir, name)));
}

/** What humans accept, with what only this machine can know about folders. */
export function acceptingFolders(
  trust: Trust,
  { root, env }: { readonly root: string; readonly env: Entering['env'] },
): Trust {
  const { folders } = trust;
  const known: Trust['folders'] = {
    mayEnter: folders.mayEnter,
    async acceptNested(folder, human) {
      // What is not there yet is nobody's to accept: anyone who makes it later would be let in.
      if (!isMarkedProject(join(root, folder))) {
        const message = `\`${folder}\` is not a project: it has neither a config nor an \`agent_workflow.yaml\``;
        throw new PhasegateError('usage', message, { hint: `phasegate --project ${shellWord(folder)} init` });
      }
      return folders.acceptNested(folder, human);
    },
    async acceptWorktree(folder, human) {
      if (claimedMain(folder) !== realpathSync(root)) {
        const message = `\`${folder}\` is not a git worktree of \`${root}\``;
        throw new PhasegateError('usage', message, { hint: 'git worktree list' });
      }
      if (stateDirFor(root, env) !== ownStateDir(realpathSync(root), env)) {
        const message = `\`${root}\` is a worktree itself, and its state is that of its main folder`;
        throw new PhasegateError('usage', message, { hint: 'name the main folder with `--project`' });
      }
      const worktree = realpathSync(folder);
      const [own, shares] = [
        ownStateDir(worktree, env),
        stateDirFor(worktree, env) === stateDirFor(root, env),
      ];
      if (!shares) requireNoState(own);
      const record = await folders.acceptWorktree(worktree, human);
      if (!shares) writeWorktreeRecord(own, { main: realpathSync(root) });
      return record;
    },
  };
  return { ...trust, folders: known };
}

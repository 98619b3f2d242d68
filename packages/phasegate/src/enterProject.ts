import { realpathSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import {
  asking,
  type Entering,
  hasStateIn,
  requireAcceptedWorktree,
  stateOf,
  worktreeWords,
} from './acceptedFolders.ts';
import { claimedMain, findProjectRoot, projectRootsAbove, withFoldersAround } from './config.ts';
import type { People } from './runtime/ports.ts';

/** The project a folder belongs to, and what was not entered on the way. */
export interface Entered {
  readonly root: string;
  readonly notes: readonly string[];
}

/**
 * The innermost project around a folder, where every project around it lets it be one: a file makes a folder a project,
 * with a state of its own and no human in it, and an agent can write files. One that no human accepted is named and not
 * entered.
 */
export async function enterProject(start: string, { env, open }: Entering): Promise<Entered> {
  const hasState = (folder: string) => hasStateIn(stateOf(folder, env));
  const marked = projectRootsAbove(start, hasState);
  const [first, ...inner] = marked.length > 0 ? marked : await withHumans();
  if (first === undefined) return { root: findProjectRoot(start), notes: [] };
  let root = first;
  if (inner.length > 0) await requireAcceptedWorktree(root, { env, open });
  for (const nested of inner) {
    if (!(await mayEnter(nested))) return { root, notes: [refused(root, nested)] };
    root = nested;
  }
  return { root, notes: [] };

  /**
   * Where nothing is marked, a project is known by its state, and only one with humans has a say: a folder inside of it
   * would be a project in which nobody has to accept anything.
   */
  async function withHumans(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const folder of withFoldersAround(start).filter(hasState)) {
      // With nobody around to ask, the folder is entered whatever is in its state, also to put that right.
      if (folder === resolve(start) && found.length === 0) continue;
      if (await asking({ root: folder, open }, hasHuman)) found.push(folder);
    }
    return found;
  }

  async function mayEnter(nested: string): Promise<boolean> {
    const outside = stateOf(root, env);
    // Without state there is no human. Worktrees that a human accepted share the state, and with it the humans.
    if (outside === null || !hasStateIn(outside) || outside === stateOf(nested, env)) return true;
    const accepted = await asking({ root, open }, (project) =>
      project.trust.folders.mayEnter(pathIn(root, nested)),
    );
    if (accepted) return true;
    const inside = stateOf(nested, env);
    if (!hasStateIn(inside)) return false;
    if (!(await asking({ root: nested, open }, hasHuman))) return false;
    // Which was there first nobody can say: a time is what the clock of some process said. So neither takes the other's
    // place.
    throw new PhasegateError('not_permitted', bothHaveHumans(root, nested), {
      hint: `name the one you mean: \`--project ${shellWord(nested)}\` or \`--project ${shellWord(root)}\``,
    });
  }
}

/**
 * Refuses a folder that is named as a project and lies in one with humans, where none of them has accepted it and it has
 * no human itself: it would run whatever an agent has written there. The nearest project with humans around it decides.
 */
export async function requireAcceptedNested(root: string, { env, open }: Entering): Promise<void> {
  const own = stateOf(root, env);
  const has = (state: string | null): state is string => hasStateIn(state);
  for (const outer of withFoldersAround(dirname(root)).toReversed()) {
    const state = stateOf(outer, env);
    // Worktrees that a human accepted share the state, and with it the humans.
    if (!has(state) || state === own || !(await asking({ root: outer, open }, hasHuman))) continue;
    const path = pathIn(outer, root);
    if (await asking({ root: outer, open }, ({ trust }) => trust.folders.mayEnter(path))) return;
    if (has(own) && (await asking({ root, open }, hasHuman))) return;
    const words = `phasegate trust --nested ${shellWord(path)} --project ${shellWord(outer)}`;
    throw new PhasegateError(
      'not_permitted',
      `\`${root}\` lies inside of \`${outer}\`, and no human of that project has accepted it as one of its own`,
      {
        hint: `name \`${outer}\` instead; or a human makes it a project with \`phasegate --project ${shellWord(root)} init\` and accepts it with \`${words}\``,
      },
    );
  }
}

async function hasHuman({ humans }: People): Promise<boolean> {
  return (await humans.list()).length > 0;
}

function bothHaveHumans(root: string, nested: string): string {
  return `\`${nested}\` lies inside of \`${root}\`, both are projects with humans, and none of \`${root}\` has accepted the inner one`;
}

function pathIn(root: string, folder: string): string {
  return relative(root, folder).split(sep).join('/');
}

function refused(root: string, nested: string): string {
  const words =
    claimedMain(nested) === realpathSync(root)
      ? worktreeWords(nested, root)
      : `phasegate trust --nested ${shellWord(pathIn(root, nested))} --project ${shellWord(root)}`;
  return `\`${nested}\` is a project that no human of \`${root}\` has accepted, so this is \`${root}\`; a human accepts it with \`${words}\``;
}

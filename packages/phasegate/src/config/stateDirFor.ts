import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, isAbsolute, join, sep } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { readWorktreeRecord } from './worktreeRecord.ts';
import { realpathOfExisting } from './worktrees.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where the state of a project lives: outside the workspace, one folder per project. A git worktree shares the state of
 * its main folder once a human has accepted it. INVARIANT: nothing in a workspace, `.git` above all, says which state is
 * used: anyone who can write it would choose one without humans. Nothing is made here.
 */
export function stateDirFor(root: string, env: Env): string {
  const here = realpathSync(root);
  const main = readWorktreeRecord(ownStateDir(here, env)) ?? here;
  const stateDir = ownStateDir(main, env);
  const real = realpathOfExisting(stateDir);
  const inside = [here, main].find((folder) => isBeneath(real, folder));
  if (inside !== undefined) {
    throw new PhasegateError(
      'config_invalid',
      `the state directory \`${stateDir}\` would be inside the workspace \`${inside}\`, where an agent can write`,
      { hint: 'set XDG_STATE_HOME to a folder outside, or work in a project folder of its own' },
    );
  }
  return stateDir;
}

/** The place of a folder's own state, by its real path alone. A worktree has its record there instead. */
export function ownStateDir(folder: string, env: Env): string {
  const digest = hash('sha256', folder, 'hex').slice(0, 16);
  return join(stateHome(env), 'phasegate', `${stateNameOf(folder)}-${digest}`);
}

/** How the name of a folder's state begins. */
export function stateNameOf(folder: string): string {
  return basename(folder).replace(/[^\w.-]+/g, '_') || 'root';
}

function stateHome({ XDG_STATE_HOME, HOME }: Env): string {
  // The XDG specification: a path that is not absolute is to be ignored.
  if (XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME)) return XDG_STATE_HOME;
  // Asked for here because the module is loaded for nothing else, and almost never.
  return join(
    HOME !== undefined && isAbsolute(HOME) ? HOME : process.getBuiltinModule('node:os').homedir(),
    '.local',
    'state',
  );
}

/** Whether a path is a folder or something in it. */
export function isBeneath(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

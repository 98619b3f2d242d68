import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { existingPath } from '../../files/existingPath.ts';
import { isSecondName } from '../../files/secondName.ts';

/** Where a path a client named really is. */
export type Placed =
  /** In the workspace; relative to it, and empty for the workspace itself. */
  | { readonly at: 'inside'; readonly path: string }
  /** Anywhere else; absolute. `within` is its place in another folder of the same project, null where it is in none. */
  | { readonly at: 'outside'; readonly path: string; readonly within: string | null }
  /** Where Phasegate keeps its own: state, keys and audit. */
  | { readonly at: 'closed' };

/** What paths are held against; all real paths. */
export interface Places {
  readonly workspace: string;
  /** Folders that no agent reads or writes. */
  readonly closed: readonly string[];
  /** The folder of the same project that holds a path; null where none does. */
  workspaceOf(path: string): string | null;
}

/** Places a path that was named in a folder. Links are followed as far as anything is there. */
export function placePath(given: string, cwd: string, { workspace, closed, workspaceOf }: Places): Placed {
  const real = realpathOf(isAbsolute(given) ? given : resolve(cwd, given));
  // The memory, files and environment of processes, those of the server among them.
  if (PROCESS.test(real) || closed.some((folder) => isWithin(real, folder))) return { at: 'closed' };
  // A hard link leads there as well, and is no link to follow.
  if (isSecondName(real, closed)) return { at: 'closed' };
  if (isWithin(real, workspace)) return { at: 'inside', path: slashed(relative(workspace, real)) };
  const home = workspaceOf(real);
  return { at: 'outside', path: real, within: home === null ? null : slashed(relative(home, real)) };
}

/** Whether a search that begins at a path comes by what is closed. */
export function reachesClosed(given: string, cwd: string, { closed }: Places): boolean {
  const real = realpathOf(isAbsolute(given) ? given : resolve(cwd, given));
  return closed.some((folder) => isWithin(folder, real));
}

/** What a client may take a path for: some leave blanks around it out, and read `~` as a shell does. */
export function readingsOf(given: string): readonly string[] {
  const trimmed = given.trim();
  const atHome = /^~(?=$|[/\\])/.test(trimmed) ? join(homedir(), trimmed.slice(1)) : trimmed;
  return [...new Set([given, trimmed, atHome])].filter((path) => path !== '');
}

const PROCESS = /^\/proc\/(?:\d+|self|thread-self)(?:\/|$)/;

function slashed(path: string): string {
  return path.split(sep).join('/');
}

/** Whether a path is a folder or something in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** The real path of what is there of a path, with the rest as it is written. */
export function realpathOf(path: string): string {
  return existingPath(path).real;
}

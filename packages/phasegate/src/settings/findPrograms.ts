import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CLIENTS } from './clientSettings.ts';
import type { ClientSettings } from './settingsFile.ts';

/**
 * A program by its absolute path, where the system keeps its own first, then on the PATH; never one that lies in the
 * project, where an agent could have put it. Null where there is none.
 */
export function findProgram(name: string, path: string | undefined, root: string): string | null {
  const folders = [...SYSTEM, ...(path ?? '').split(delimiter)];
  for (const folder of folders) {
    if (!folder.startsWith('/') || `${folder}/`.startsWith(`${root}/`)) continue;
    if (isProgram(join(folder, name))) return join(folder, name);
  }
  return null;
}

/** The clients that are installed, or whose settings are in the project already. */
export function detectClients(path: string | undefined, root: string): readonly ClientSettings[] {
  return CLIENTS.filter(
    ({ programs, folder }) => programs.some((name) => findOnPath(name, path)) || isFolder(join(root, folder)),
  );
}

const SYSTEM = ['/usr/bin', '/bin'];

function findOnPath(name: string, path: string | undefined): boolean {
  return (path ?? '')
    .split(delimiter)
    .some((folder) => folder.startsWith('/') && isProgram(join(folder, name)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

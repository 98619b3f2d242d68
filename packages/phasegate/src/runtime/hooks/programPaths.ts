import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The file a shell would run; the first of that name, whatever it is. Null where none is, or where that depends on its folder. */
export function lookedUp(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) return null;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/**
 * Whether a name that stands for a program of the system may be one that the agent wrote: where the PATH of its client
 * leads into a folder of the project first. Where that PATH is not known, nobody can say, and it is not.
 */
export function isPlanted(
  name: string,
  clientPath: string | undefined,
  workspaceOf: (path: string) => string | null,
): boolean {
  if (clientPath === undefined) return false;
  const found = lookedUp(name, clientPath);
  return found === null || workspaceOf(found) !== null || workspaceOf(realOr(found)) !== null;
}

/** The real path of a file; as it is where it is not there. */
export function realOr(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

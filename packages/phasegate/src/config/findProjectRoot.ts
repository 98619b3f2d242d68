import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const MARKS = ['phasegate.config.json', 'phasegate.config.yaml', '.phasegate', 'agent_workflow.yaml'];

/** The nearest folder upward that is a project, else the folder itself. */
export function findProjectRoot(start: string): string {
  const from = resolve(start);
  for (let folder = from; ; folder = dirname(folder)) {
    if (isMarkedProject(folder)) return folder;
    if (folder === dirname(folder)) return from;
  }
}

/**
 * Every folder upward that is a project, the outermost first: by its marks, or around one with marks by its state. The
 * marks lie where agents can remove them, and a project that lost its own must still be asked what is in it.
 */
export function projectRootsAbove(
  start: string,
  hasState: (folder: string) => boolean = () => false,
): readonly string[] {
  const found: string[] = [];
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    if (isMarkedProject(folder) || (found.length > 0 && hasState(folder))) found.unshift(folder);
    if (folder === dirname(folder)) return found;
  }
}

/** The folder and every one around it, the outermost first. */
export function withFoldersAround(start: string): readonly string[] {
  const found = [resolve(start)];
  for (let [folder] = found as [string]; folder !== dirname(folder); ) {
    folder = dirname(folder);
    found.unshift(folder);
  }
  return found;
}

/** Whether a folder says itself that it is a project. */
export function isMarkedProject(folder: string): boolean {
  return MARKS.some((mark) => existsSync(join(folder, mark)));
}

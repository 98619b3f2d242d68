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

/** Every folder upward that says it is a project, the outermost first. */
export function projectRootsAbove(start: string): readonly string[] {
  const found: string[] = [];
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    if (isMarkedProject(folder)) found.unshift(folder);
    if (folder === dirname(folder)) return found;
  }
}

/** Whether a folder says itself that it is a project. */
export function isMarkedProject(folder: string): boolean {
  return MARKS.some((mark) => existsSync(join(folder, mark)));
}

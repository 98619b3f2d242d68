import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, sep } from 'node:path';
import { isOwnVariable } from '@phasegate/core/contract';

/**
 * The environment of a command: a few harmless names of our own and what the workflow's author fixed. It is a list
 * of what may pass, not of what may not, so that a secret under a name nobody thought of stays here.
 */
export function cleanEnvironment(
  own: NodeJS.ProcessEnv,
  workspace: string,
  fixed: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: safePath(own.PATH ?? '', workspace) };
  for (const name of PASSED) {
    const value = own[name];
    if (value !== undefined) environment[name] = value;
  }
  for (const [name, value] of Object.entries(fixed)) {
    if (isOwnVariable(name)) throw new Error(`\`env\` may not set \`${name}\``);
    environment[name] = value;
  }
  return environment;
}

const PASSED = ['HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'] as const;

/**
 * Drops entries of the search path that are relative or inside the workspace: there an agent could put a program
 * of its own under the name the author meant.
 */
function safePath(path: string, workspace: string): string {
  const entries = path.split(delimiter).filter((entry) => isAbsolute(entry) && !isInside(entry, workspace));
  return entries.join(delimiter);
}

function isInside(entry: string, workspace: string): boolean {
  try {
    return `${realpathSync(entry)}${sep}`.startsWith(`${workspace}${sep}`);
  } catch {
    // It is not there, so nothing is found in it now; an agent could make it if it lies in the workspace.
    return `${entry}${sep}`.startsWith(`${workspace}${sep}`);
  }
}

import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { usageError } from './usage.ts';
import { unwritable } from './writeText.ts';

/** The path of a file that a command is to make: a name that cannot be one is said before anything is asked or done. */
export async function newFile(option: string, word: string): Promise<string> {
  return placeFor(option, word, 'name one that is not there yet');
}

/** The same for a file that is written over where it is there already: what keeps it from that is said beforehand, too. */
export async function fileToWrite(option: string, word: string): Promise<string> {
  const file = await placeFor(option, word, 'name a file, or leave it out');
  const there = await stat(file).catch(() => null);
  if (there?.isDirectory() === true) throw unwritable(file, { code: 'EISDIR' });
  await access(there === null ? dirname(file) : file, constants.W_OK).catch((error: unknown) => {
    throw unwritable(file, error);
  });
  return file;
}

async function placeFor(option: string, word: string, hint: string): Promise<string> {
  if (word === '-') throw usageError(`${option} takes a file, and \`-\` is not one`, hint);
  const file = resolve(word);
  const folder = dirname(file);
  const found = await stat(folder).catch((error: unknown) => {
    throw unwritable(file, error);
  });
  if (!found.isDirectory()) throw unwritable(file, { code: 'ENOTDIR' });
  return file;
}

/** What is to be known of a copy of the state in the workspace; null where it lies elsewhere. */
export function workspaceNote(root: string, file: string, what: string): string | null {
  if (!file.startsWith(`${root}${sep}`)) return null;
  return `note: the ${what} lies in the workspace, where agents can read it, and every phase sees it as a change; move it elsewhere`;
}

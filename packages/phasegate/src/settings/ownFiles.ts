import { randomUUID } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { readRegular, readRegularIfAny } from '../files/readRegular.ts';
import { sumOf } from './settingsRecord.ts';

/** Larger than any settings are. */
export const LARGEST_SETTINGS = 10 * 1024 * 1024;

/** The text of a file of a project, through no link; null where there is none. Throws `config_invalid`. */
export function readIn(root: string, path: string): string | null {
  const names = path.split('/');
  for (let depth = 1; depth <= names.length; depth += 1) {
    const part = names.slice(0, depth).join('/');
    const found = lstatSync(join(root, part), { throwIfNoEntry: false });
    if (found === undefined) return null;
    const isLast = depth === names.length;
    if (isLast ? found.isFile() : found.isDirectory()) continue;
    throw new PhasegateError(
      'config_invalid',
      `\`${part}\` is a link, or not a ${isLast ? 'file' : 'folder'}`,
      {
        hint: `put a plain ${isLast ? 'file' : 'folder'} in its place; nothing was written`,
      },
    );
  }
  return readRegular(join(root, path), { most: LARGEST_SETTINGS, links: 'refuse' }).toString('utf8');
}

/** SHA-256 of a hook program of ours; null where there is nothing that could be one. */
export function programSum(file: string): string | null {
  const bytes = readRegularIfAny(file, { most: LARGEST_SETTINGS, links: 'refuse' });
  return bytes === null ? null : sumOf(bytes.toString('utf8'));
}

/**
 * Writes a file whole or not at all, and gives the folders that were made for it, the outermost first. What the mask
 * leaves out, nobody gets.
 */
export function writeIn(root: string, path: string, text: string, mask = 0o777): readonly string[] {
  const file = join(root, path);
  const made = foldersMissing(root, path);
  mkdirSync(dirname(file), { recursive: true });
  const mode = (lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0o644) & mask;
  const draft = `${file}.${randomUUID()}`;
  try {
    // Not by more than before, not even for a moment.
    writeFileSync(draft, text, { flag: 'wx', mode: mode & 0o700 });
    chmodSync(draft, mode);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return made;
}

/** Removes a file. */
export function removeIn(root: string, path: string): void {
  rmSync(join(root, path), { force: true });
}

/** Removes folders that were made, the innermost first, where nothing is in them: whatever came since is not ours. */
export function removeFolders(root: string, made: readonly string[]): void {
  for (const folder of made.toSorted((a, b) => b.length - a.length)) {
    try {
      rmdirSync(join(root, folder));
    } catch {
      // Something is in it.
    }
  }
}

function foldersMissing(root: string, path: string): readonly string[] {
  const names = path.split('/').slice(0, -1);
  return names
    .map((_, place) => names.slice(0, place + 1).join('/'))
    .filter((folder) => lstatSync(join(root, folder), { throwIfNoEntry: false }) === undefined);
}

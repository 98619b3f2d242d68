import { mkdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { readRegularIfAny } from '../../files/readRegular.ts';

/** A file to write, unless it or one that stands for it is there. */
export interface MissingFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Other paths that make this one unnecessary. */
  readonly instead?: readonly string[];
}

/** What was written, what was left alone, and which files now hold exactly the given text. */
export interface WrittenFiles {
  readonly created: readonly string[];
  readonly kept: readonly string[];
  readonly ours: readonly string[];
  /** Removes what was written, and the folders that were made for it. */
  undo(): Promise<void>;
}

/** Writes the files that are missing and leaves all others as they are; all of them, or none. */
export async function writeMissing(root: string, files: readonly MissingFile[]): Promise<WrittenFiles> {
  const created: string[] = [];
  const kept: string[] = [];
  const ours: string[] = [];
  const folders: string[] = [];
  const undo = async () => {
    for (const path of created) await rm(join(root, path), { force: true });
    // Only what is empty: whatever came since is not ours.
    for (const folder of folders.toReversed()) await rmdir(folder).catch(() => undefined);
  };
  try {
    for (const { path, text, instead = [] } of files) {
      const there = await firstExisting(root, [path, ...instead]);
      if (there !== undefined) kept.push(there);
      else if (await writeNew(join(root, path), text, folders)) created.push(path);
      else kept.push(path);
      if (await holds(join(root, path), text)) ours.push(path);
    }
  } catch (error) {
    await undo();
    throw error;
  }
  return { created, kept, ours, undo };
}

async function firstExisting(root: string, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const found = await stat(join(root, path)).catch(() => undefined);
    if (found !== undefined) return path;
  }
  return undefined;
}

async function writeNew(file: string, text: string, folders: string[]): Promise<boolean> {
  try {
    folders.push(...(await makeFolders(dirname(file))));
    // `wx`: whatever appeared since we looked is kept, also a dangling symlink.
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') return false;
    throw new PhasegateError('file_unreadable', `\`${file}\` cannot be written: ${reasonOf(cause)}`, {
      hint: 'make its folder one that you can write to, or name another with `--project DIR`',
      cause,
    });
  }
}

/** The folders that were missing, the outermost first. */
async function makeFolders(folder: string): Promise<readonly string[]> {
  const first = await mkdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    // A file is in the way, which is not the file that was to be written.
    throw error.code === 'EEXIST' ? Object.assign(error, { code: 'ENOTDIR' }) : error;
  });
  if (first === undefined) return [];
  const made = [folder];
  while (made[0] !== first) made.unshift(dirname(made[0] as string));
  return made;
}

async function holds(file: string, text: string): Promise<boolean> {
  const most = Buffer.byteLength(text);
  return readRegularIfAny(file, { most, links: 'follow' })?.toString('utf8') === text;
}

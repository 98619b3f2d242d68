import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';

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
}

/** Writes the files that are missing and leaves all others as they are. */
export async function writeMissing(root: string, files: readonly MissingFile[]): Promise<WrittenFiles> {
  const created: string[] = [];
  const kept: string[] = [];
  const ours: string[] = [];
  for (const { path, text, instead = [] } of files) {
    const there = await firstExisting(root, [path, ...instead]);
    if (there !== undefined) kept.push(there);
    else if (await writeNew(join(root, path), text)) created.push(path);
    else kept.push(path);
    if (await holds(join(root, path), text)) ours.push(path);
  }
  return { created, kept, ours };
}

async function firstExisting(root: string, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const found = await stat(join(root, path)).catch(() => undefined);
    if (found !== undefined) return path;
  }
  return undefined;
}

async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true });
    // `wx`: whatever appeared since we looked is kept, also a dangling symlink.
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') return false;
    throw new PhasegateError('file_unreadable', `\`${file}\` cannot be written: ${code ?? String(cause)}`, {
      cause,
    });
  }
}

async function holds(file: string, text: string): Promise<boolean> {
  return (await readFile(file, 'utf8').catch(() => undefined)) === text;
}

import { stat } from 'node:fs/promises';
import { oneLine } from '@phasegate/core/model';
import { usageError } from './usage.ts';

/** Archives that are named must be there: a name that was mistyped says nothing about the audit. */
export async function requireFiles(files: readonly string[]): Promise<void> {
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  const named = (wrong: readonly string[]) => wrong.map((file) => `\`${oneLine(file)}\``).join(', ');
  const missing = files.filter((_, at) => found[at] === null);
  if (missing.length > 0) throw usageError(`there is no such file: ${named(missing)}`, WANTED);
  const folders = files.filter((_, at) => found[at]?.isDirectory() === true);
  if (folders.length > 0) throw usageError(`a folder, and not a file: ${named(folders)}`, WANTED);
  const others = files.filter((_, at) => found[at]?.isFile() !== true);
  if (others.length > 0) throw usageError(`not a regular file: ${named(others)}`, WANTED);
}

const WANTED = '`--archive` takes a file that `phasegate archive` wrote';

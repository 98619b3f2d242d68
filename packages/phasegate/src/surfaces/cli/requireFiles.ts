import { stat } from 'node:fs/promises';
import { oneLine } from '@phasegate/core/model';
import { usageError } from './usage.ts';

/** Archives that are named must be there: a name that was mistyped says nothing about the audit. */
export async function requireFiles(files: readonly string[]): Promise<void> {
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  const missing = files.filter((_, at) => found[at]?.isFile() !== true).map((file) => `\`${oneLine(file)}\``);
  if (missing.length === 0) return;
  throw usageError(
    `there is no such file: ${missing.join(', ')}`,
    '`--archive` takes a file that `phasegate archive` wrote',
  );
}

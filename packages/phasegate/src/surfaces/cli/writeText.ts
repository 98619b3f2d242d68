import { writeFile } from 'node:fs/promises';
import { PhasegateError } from '@phasegate/core';
import { reasonOf, systemReason } from '@phasegate/core/model';

/** Writes what a command was told to write to a file, over what is there. */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

/** The fault of a file that a command was told to write. */
export function unwritable(file: string, cause: unknown): PhasegateError {
  const hint = systemReason(cause)?.hint;
  return new PhasegateError('file_unreadable', `\`${file}\` cannot be written: ${reasonOf(cause)}`, {
    cause,
    ...(hint === undefined ? {} : { hint }),
  });
}

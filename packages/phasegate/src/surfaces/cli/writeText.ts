import { writeFile } from 'node:fs/promises';
import { PhasegateError } from '@phasegate/core';

/** Writes what a command was told to write to a file, over what is there. */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new PhasegateError('file_unreadable', `\`${file}\` cannot be written: ${reason}`, { cause });
  }
}

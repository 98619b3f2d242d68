import { join } from 'node:path';
import type { GuardedFiles } from './runtime/ports.ts';
import type { createGuardedFiles, FileChange } from './workspace/guardedFiles.ts';

/** The guard's own files, read when a program is first run. */
export function lazyGuardedFiles(root: string, stateDir: string): GuardedFiles {
  const keptIn = () => join(stateDir, 'put-back');
  let made: Promise<ReturnType<typeof createGuardedFiles>> | undefined;
  const get = () => {
    made ??= import('./workspace/guardedFiles.ts').then((room) => room.createGuardedFiles({ root, keptIn }));
    return made;
  };
  return {
    read: async (known) => (await get()).read(known),
    putBack: async (change) => (await get()).putBack(change as FileChange),
  };
}

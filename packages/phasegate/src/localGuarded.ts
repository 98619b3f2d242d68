import { join } from 'node:path';
import type { GuardedFiles } from './runtime/ports.ts';
import type { FileChange } from './workspace/guardedFiles.ts';

/** The guard's own files, read when a program is first run. */
export function lazyGuardedFiles(root: string, stateDir: string): GuardedFiles {
  const keptIn = () => join(stateDir, 'put-back');
  const get = async () => (await import('./workspace/guardedFiles.ts')).createGuardedFiles({ root, keptIn });
  return {
    read: async () => (await get()).read(),
    putBack: async (change) => (await get()).putBack(change as FileChange),
  };
}

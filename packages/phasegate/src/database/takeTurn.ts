import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../workspace/lockFile.ts';
import { busy } from './refused.ts';
import { type Patience, whenFree } from './whenFree.ts';

/** The right to be the one that works on a database. */
export interface Turn {
  leave(): void;
}

/** The file that stands for the turn. */
export const TURN_FILE = 'turn.lock';

/**
 * Takes the turn at a database, whose attempts are in this folder. It is a lock of the operating system's, so it ends
 * with its process however that ends: whatever else is in the folder while we have it was left by a crash.
 */
export function takeTurn(folder: string, file: string, patience: Patience): Promise<Turn> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return whenFree(file, patience, () => {
    const lock = lockFile(join(folder, TURN_FILE));
    if (lock === null) throw busy(file);
    return { leave: lock.release };
  });
}

import { mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';

/**
 * Makes a folder that only this user may enter, with a name nobody knows before: in one that is named, or where temporary
 * files are. One that is named must be this user's alone to write: its owner could put another in the place of ours.
 */
export function makeOwnFolder(named: string | null): string {
  if (named === null) return mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-worker-'));
  mkdirSync(named, { recursive: true, mode: 0o700 });
  const real = realpathSync(named);
  const { uid, mode } = statSync(real);
  const user = process.getuid?.();
  if (user !== undefined && (uid !== user || (mode & WRITTEN_BY_OTHERS) !== 0))
    throw new PhasegateError('usage', `others may write in \`${named}\`, or it is another user's`, {
      hint: 'name a folder of your own with `--folder`, and take the right to write from others: `chmod go-w`',
    });
  return mkdtempSync(join(real, 'worker-'));
}

const WRITTEN_BY_OTHERS = 0o022;

import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { Exit, Launch } from './adapter.ts';

/** Leaves an order for the launcher: a file only this user may read, there until it is taken. */
export function leaveLaunch(launch: Launch): void {
  rmSync(join(launch.folder, EXIT), { force: true });
  writeWhole(join(launch.folder, LAUNCH), JSON.stringify(launch));
}

/** Takes the order out of a folder: it is there once. */
export function takeLaunch(folder: string): Launch {
  const file = join(folder, LAUNCH);
  try {
    const launch = JSON.parse(readFileSync(file, 'utf8')) as Launch;
    rmSync(file);
    return launch;
  } catch (cause) {
    throw new PhasegateError('file_unreadable', `there is nothing to start in \`${folder}\``, { cause });
  }
}

/** Says how the program ended. */
export function leaveExit(folder: string, exit: Exit): void {
  writeWhole(join(folder, EXIT), JSON.stringify(exit));
}

/** How the program ended; undefined while it has not. */
export function readExit(folder: string): Exit | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, EXIT), 'utf8')) as Exit;
  } catch {
    // Not written yet; half a file is never seen.
    return undefined;
  }
}

const LAUNCH = 'launch.json';
const EXIT = 'exit.json';

function writeWhole(file: string, text: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

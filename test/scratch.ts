import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where memory can be written to like a disk. */
const MEMORY = '/dev/shm';

/** What a run may need at once, with much to spare; a container often has only 64 MiB of it. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

const NAME = /^phasegate-tests-(\d+)$/;

/**
 * The one folder in which a run of the tests makes all its temporary ones: it is `TMPDIR` of every worker. In memory
 * where there is enough, as each commit of a database waits for the disk, and no test is about a loss of power.
 */
export const SCRATCH = join(place(), `phasegate-tests-${process.pid}`);

/** Makes the folder, and removes it with all that is in it when the tests have ended. */
export default function setup(): () => void {
  removeAbandoned();
  // Each project of the configuration asks for it.
  mkdirSync(SCRATCH, { recursive: true, mode: 0o700 });
  return () => remove(SCRATCH);
}

/** A run that was killed could not remove its own. */
function removeAbandoned(): void {
  for (const name of readdirSync(place())) {
    const pid = Number(NAME.exec(name)?.[1] ?? process.pid);
    if (pid !== process.pid && !isAlive(pid)) remove(join(place(), name));
  }
}

/** A process that a test left behind may still write while it is removed. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function place(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= ENOUGH_BYTES) return MEMORY;
  } catch {
    // There is no such folder on this system.
  }
  return tmpdir();
}

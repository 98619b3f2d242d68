import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where memory can be written to like a disk. */
const MEMORY = '/dev/shm';

/** What a run may need at once, with much to spare; a container often has only 64 MiB of it. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Of a run, or of a database server that a test has started beside it. */
const NAME = /^phasegate-tests-(\d+)(?:-postgres-\w+)?$/;

/**
 * The one folder in which a run of the tests makes all its temporary ones: it is `TMPDIR` of every worker. In memory
 * where there is enough, as each commit of a database waits for the disk, and no test is about a loss of power.
 */
export const SCRATCH = join(place(), `phasegate-tests-${process.pid}`);

/** Where Node keeps what it compiled: programs that tests start from the sources are compiled once for all of them. */
export const COMPILED = join(SCRATCH, 'compiled');

/** Makes the folder, and removes it with all that is in it when the tests have ended. */
export default function setup(): () => Promise<void> {
  removeAbandoned();
  // Each project of the configuration asks for it, and the first gets it.
  const isFirst = mkdirSync(SCRATCH, { recursive: true, mode: 0o700 }) !== undefined;
  const compiled = isFirst ? compile() : Promise.resolve();
  return async () => {
    await compiled;
    remove(SCRATCH);
  };
}

/**
 * Compiles what the process of a workflow's code loads. It is killed when it is no longer needed, and one that is killed
 * leaves nothing for the next. Its options are part of the key.
 */
async function compile(): Promise<void> {
  const modules = [
    'phasegate/src/loaders/typescript/hostChild',
    'phasegate/src/database/index',
    'sdk/src/index',
  ];
  const load = modules
    .map(
      (path) => `await import(${JSON.stringify(new URL(`../packages/${path}.ts`, import.meta.url).href)});`,
    )
    .join('');
  const words = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=512', '--input-type=module'];
  const child = spawn(process.execPath, [...words, '-e', load], {
    env: { NODE_COMPILE_CACHE: COMPILED },
    stdio: 'ignore',
  });
  await once(child, 'close');
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

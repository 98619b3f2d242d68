import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The address of the server that all tests of this run share. The first that asks starts it, so that a run without such
 * tests pays nothing for it; it ends with the run.
 */
export async function sharedServer(): Promise<string> {
  const folder = tmpdir();
  const [file, said] = [join(folder, 'postgres.url'), join(folder, 'postgres.log')];
  if (!existsSync(file) && claimed(join(folder, 'postgres.lock'))) {
    const log = openSync(said, 'w');
    const keeper = new URL('./keepServer.ts', import.meta.url).pathname;
    // In a session of its own: the worker that started it may end before the run does.
    spawn(process.execPath, [keeper, folder], { detached: true, stdio: ['ignore', log, log] }).unref();
    closeSync(log);
  }
  const before = Date.now() + LONGEST_START;
  while (!existsSync(file)) {
    if (Date.now() > before) throw new Error(`PostgreSQL did not start: ${readFileSync(said, 'utf8')}`);
    await pause(20);
  }
  return readFileSync(file, 'utf8');
}

/** An address with a schema of its own on the shared server: nobody else's tables are in it. */
export async function freshSchema(): Promise<string> {
  return `${await sharedServer()}?schema=t_${randomBytes(6).toString('hex')}`;
}

const LONGEST_START = 60_000;

/** One process makes the folder, and all others find it made. */
function claimed(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';

/**
 * Where hooks reach the server of a project: a socket in a folder that only the user can enter. It follows from the
 * state directory alone, so that a hook, whose environment is the client's, finds the same one as the server.
 */
export function hookSocketFor(stateDir: string): string {
  const beside = join(stateDir, 'run', 'hooks.sock');
  if (Buffer.byteLength(beside) <= LONGEST) return beside;
  const digest = createHash('sha256').update(stateDir).digest('hex').slice(0, 32);
  // Not of TMPDIR: the client may have been given another one.
  return join('/tmp', `phasegate-${process.getuid?.() ?? 0}`, `${digest}.sock`);
}

/** The file with the number of the process that serves a socket. */
export function pidFileOf(socket: string): string {
  return socket.replace(/\.sock$/, '.pid');
}

/** Whether the socket is there and the file beside it names this process: then a hook asks it. */
export function isServedBy(socket: string, pid: number): boolean {
  try {
    return lstatSync(socket).isSocket() && Number(readFileSync(pidFileOf(socket), 'utf8')) === pid;
  } catch {
    return false;
  }
}

/** Makes the folder of a socket, and refuses one that somebody else could put a socket into. */
export function makeSocketFolder(socket: string): void {
  const folder = dirname(socket);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
      throw refused(folder, 'cannot be made', { cause });
  }
  requireSocketFolder(socket);
}

/** Throws where the folder of a socket is a link, is not the user's own, or can be entered by others. */
export function requireSocketFolder(socket: string): void {
  const folder = dirname(socket);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw refused(folder, 'is not there');
  if (!found.isDirectory()) throw refused(folder, 'is a link or not a folder');
  const own = process.getuid?.();
  if (own !== undefined && found.uid !== own) throw refused(folder, `belongs to user ${found.uid}`);
  if ((found.mode & 0o077) !== 0) throw refused(folder, 'can be entered by others');
}

/** The systems we run on take 104 bytes at least, with a zero at the end. */
const LONGEST = 99;

function refused(folder: string, why: string, options: { readonly cause?: unknown } = {}): PhasegateError {
  return new PhasegateError(
    'store_unavailable',
    `\`${folder}\` ${why}, so hooks cannot trust the server's socket in it`,
    { hint: `remove it, and run \`phasegate up\` again`, ...options },
  );
}

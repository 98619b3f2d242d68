import { existsSync, lstatSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';

/** A socket in the file system, and who may connect to it. */
export interface SocketFile {
  /** Absolute. */
  readonly path: string;
  /** Whether the group of its folder may connect too; else only the server's own user may. */
  readonly group: boolean;
}

/**
 * Listens on a socket in the file system. What an earlier server left there is removed, but nothing else: a file, a
 * folder, a link or a socket of another user stays, and the server does not start.
 */
export function bindSocket(server: Server, { path, group }: SocketFile, listening: () => void): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const isOurs = found?.isSocket() === true && found.uid === process.getuid?.();
  if (isOurs) rmSync(path);
  // Node binds before `listen` returns, so nobody ever finds the socket wider than this.
  const before = process.umask(group ? 0o117 : 0o177);
  try {
    server.listen({ path }, listening);
  } finally {
    process.umask(before);
  }
}

/** Why there can be no socket there, in words. */
export function cannotBind(error: Error, { path }: SocketFile): PhasegateError {
  // A folder that is not there comes as one that may not be written.
  const isMissing = own(error, 'code') === 'EACCES' && !existsSync(dirname(path));
  const code = isMissing ? 'ENOENT' : own(error, 'code');
  const [reason, hint] =
    code === 'EADDRINUSE'
      ? ['something is there already', 'move it away, or name another path']
      : code === 'EACCES' || code === 'EPERM'
        ? ['this user may not write to its folder', 'name a folder that belongs to the user of the server']
        : code === 'ENOENT'
          ? ['its folder does not exist', 'make the folder first, for the user of the server alone']
          : code === 'EINVAL' || code === 'ENAMETOOLONG'
            ? ['the path is too long for a socket', 'name a path of at most 100 characters']
            : [error.message, 'name another path'];
  return new PhasegateError('usage', `cannot listen on \`${path}\`: ${reason}`, { cause: error, hint });
}

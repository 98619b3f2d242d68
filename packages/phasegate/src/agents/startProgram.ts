import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exit, Launch } from './adapter.ts';

/** A program under way, with how it will have ended. */
export interface Program {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
}

/** Starts a program without a shell, with the credentials on file descriptor 3. */
export function startProgram(
  launch: Omit<Launch, 'name'>,
  how: { readonly stdio: readonly [ProgramStream, ProgramStream, ProgramStream]; readonly ownGroup: boolean },
): Program {
  const [file, ...words] = launch.argv;
  const secret = descriptorHolding(launch.credentials, launch.folder);
  try {
    const child = spawn(file, words, {
      cwd: launch.cwd,
      env: launch.environment,
      stdio: [...how.stdio, secret] satisfies StdioOptions,
      shell: false,
      detached: how.ownGroup,
    });
    return { child, exited: endOf(child) };
  } finally {
    closeSync(secret);
  }
}

/** What a program has as a standard stream. */
export type ProgramStream = 'inherit' | 'ignore' | 'pipe' | number;

/**
 * A file nobody can find any more: unlike a pipe it can be read at any pace, again, and by `/dev/fd/3` too, and
 * unlike a path it ends with the processes that hold it.
 */
function descriptorHolding(text: string, folder: string): number {
  const path = join(folder, `credentials-${randomBytes(6).toString('hex')}`);
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  try {
    return openSync(path, 'r');
  } finally {
    rmSync(path);
  }
}

/** How a program that was spawned will have ended. */
export function endOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ kind: 'not_started', code: codeOf(error) });
    });
    child.once('exit', (code, signal) => {
      resolve(code === null ? { kind: 'killed', signal: signal ?? 'a signal' } : { kind: 'exited', code });
    });
  });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : String(error);
}

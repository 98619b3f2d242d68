import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { requireOwnState } from './requireOwnState.ts';

const FILE = 'worktree.json';

/** What a worktree shares the state by. */
export interface WorktreeRecord {
  /** The main folder whose state it is. */
  readonly main: string;
  /** The one run the worktree was made for; absent where a human accepted it for any. */
  readonly run?: string;
}

/** The main folder whose state a worktree shares, as a human accepted it; null where there is no record. */
export function readWorktreeRecord(ownStateDir: string): string | null {
  return worktreeRecordIn(ownStateDir)?.main ?? null;
}

/** The whole record; null where there is none. */
export function worktreeRecordIn(ownStateDir: string): WorktreeRecord | null {
  const file = join(ownStateDir, FILE);
  // A file in place of the folder has no record in it either; opening the state says what is wrong with it.
  if (!isThere(file)) return null;
  requireOwnState(ownStateDir);
  const record = recordIn(readFileSync(file, 'utf8'));
  if (record !== null) return record;
  throw new PhasegateError('store_corrupt', `\`${file}\` does not say whose state is shared`, {
    hint: `a human removes \`${ownStateDir}\` and accepts the worktree again with \`phasegate trust --worktree\``,
  });
}

/** Keeps that a worktree shares the state of a main folder. Throws `usage` where the worktree has a state by now. */
export function writeWorktreeRecord(ownStateDir: string, record: WorktreeRecord): void {
  const home = dirname(ownStateDir);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  // Moved into place as a whole: a folder there without the record would be a state of its own.
  const draft = mkdtempSync(join(home, '.worktree-'));
  try {
    writeFileSync(join(draft, FILE), `${JSON.stringify(record)}\n`, { mode: 0o600 });
    requireNoState(ownStateDir);
    renameSync(draft, ownStateDir);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Forgets that a worktree shared a state: its folder is gone. */
export function dropWorktreeRecord(ownStateDir: string): void {
  if (worktreeRecordIn(ownStateDir) !== null) rmSync(ownStateDir, { recursive: true });
}

/** Throws `usage` where a folder has a state of its own: it is not taken away unsaid. */
export function requireNoState(ownStateDir: string): void {
  if (!isThere(ownStateDir)) return;
  throw new PhasegateError('usage', `the worktree has a state of its own in \`${ownStateDir}\``, {
    hint: 'a human moves that folder away, if nothing in it is needed, and accepts the worktree again',
  });
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}

function recordIn(text: string): WorktreeRecord | null {
  try {
    const { main, run } = Object(JSON.parse(text)) as { readonly main?: unknown; readonly run?: unknown };
    if (typeof main !== 'string' || !isAbsolute(main)) return null;
    if (run === undefined) return { main };
    return typeof run === 'string' ? { main, run } : null;
  } catch {
    // Said by the caller, with what to do about it.
    return null;
  }
}

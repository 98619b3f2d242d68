import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { headIsGenuine } from '@phasegate/audit';
import { own, PhasegateError } from '@phasegate/core';
import type { Seal } from '../../runtime/ports.ts';
import { requireKnownVersion } from './database.ts';
import { corrupt, isBusy, storeFault, unavailable } from './faults.ts';
import { signedHead } from './headTable.ts';

/** What a restore did. */
export interface Restored {
  /** Where the database that was replaced is kept; null when there was none. */
  readonly kept: string | null;
  /** The format of the restored database. */
  readonly version: number;
}

/** A backup, the database it is for, and whose it must be. */
export interface Restoring {
  readonly from: string;
  readonly to: string;
  readonly seal?: Seal;
}

/**
 * Replaces the database by a backup, after checking that it is an intact one of ours (with `seal`, of this
 * project). What was there is kept beside it. Refuses while another process has the database open.
 */
export function restoreSqlite(options: Restoring): Restored {
  const { draft, version } = stageBackup(options);
  try {
    return { kept: installStaged(draft, options.to), version };
  } finally {
    dropStaged(draft);
  }
}

/** Copies a backup beside the database it is for and checks the copy, which nobody else knows; changes nothing else. */
export function stageBackup(options: Restoring): { readonly draft: string; readonly version: number } {
  const [from, to] = [resolve(options.from), resolve(options.to)];
  if (!existsSync(from))
    throw new PhasegateError('file_unreadable', `\`${from}\` does not exist`, { hint: NAME_ANOTHER });
  if (existsSync(to) && realpathSync(from) === realpathSync(to)) {
    throw new PhasegateError('usage', `\`${from}\` is the database itself, not a backup of it`, {
      hint: NAME_ANOTHER,
    });
  }
  const draft = `${to}.${randomUUID()}.restoring`;
  try {
    return { draft, version: prepare({ from, draft, seal: options.seal }) };
  } catch (error) {
    dropStaged(draft);
    const fault = storeFault(error, to);
    // What it says of a damaged database is not about a backup, of which nothing was taken.
    if (fault.code !== 'store_corrupt' || fault.hint?.startsWith(UNCHANGED) === true) throw fault;
    throw new PhasegateError(fault.code, fault.message, { hint: NAME_ANOTHER, cause: error });
  }
}

const UNCHANGED = 'nothing was changed';
const NAME_ANOTHER = `${UNCHANGED}; name a backup of this project, a file that \`phasegate backup FILE\` wrote`;

/** Puts a staged backup in the database's place; gives where the one before is kept, null when there was none. */
export function installStaged(draft: string, to: string): string | null {
  try {
    return replace(draft, resolve(to));
  } catch (error) {
    throw storeFault(error, to);
  }
}

/** Removes what was staged. */
export function dropStaged(draft: string): void {
  for (const suffix of SUFFIXES) rmSync(draft + suffix, { force: true });
}

const SUFFIXES = ['', '-wal', '-shm', '-journal'] as const;

/** Copies the backup beside the database and checks the very bytes that will take its place. */
function prepare(options: { from: string; draft: string; seal: Seal | undefined }): number {
  const { from, draft, seal } = options;
  let database: DatabaseSync | undefined;
  try {
    copyFileSync(from, draft, constants.COPYFILE_EXCL);
    chmodSync(draft, 0o600);
    // A database copied by hand may have its newest pages in the log beside it.
    if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${draft}-wal`, constants.COPYFILE_EXCL);
    database = new DatabaseSync(draft);
    const check = Object.values(database.prepare('PRAGMA integrity_check').get() ?? {})[0];
    if (check !== 'ok') throw corrupt(from, String(check));
    const version = requireKnownVersion(database, from);
    if (version === 0) throw corrupt(from, 'it is empty');
    if (seal !== undefined) requireOurs(database, { from, folder: dirname(draft), seal });
    database.exec('PRAGMA journal_mode=DELETE');
    return version;
  } catch (error) {
    throw storeFault(error, from);
  } finally {
    database?.close();
  }
}

function requireOurs(
  database: DatabaseSync,
  { from, folder, seal }: { readonly from: string; readonly folder: string; readonly seal: Seal },
): void {
  const row = database.prepare('SELECT * FROM heads').get();
  if (row === undefined || headIsGenuine(seal, signedHead(row))) return;
  throw new PhasegateError(
    'store_corrupt',
    `\`${from}\` is signed with other keys than those of this project`,
    {
      hint: `${UNCHANGED}; to take over the project it is a backup of, put \`keys.json\` of that project into \`${folder}\` first (docs/guide/runbook.md), else name a backup of this one`,
    },
  );
}

function replace(draft: string, to: string): string | null {
  sync(draft);
  if (!existsSync(to)) {
    linkSync(draft, to);
    sync(dirname(to));
    return null;
  }
  const present = lockAlone(to);
  try {
    const kept = keepAside(to);
    // A log left over from a damaged database would be replayed onto the new one.
    for (const suffix of SUFFIXES.slice(1)) {
      if (existsSync(to + suffix)) renameSync(to + suffix, kept + suffix);
    }
    renameSync(draft, to);
    sync(dirname(to));
    return kept;
  } finally {
    present?.close();
  }
}

/** Takes the present database for itself alone; undefined when it is too damaged to be locked. */
function lockAlone(to: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(to);
    // Leaving WAL needs every other connection to be closed, also an idle one; and it empties the log.
    database.exec(
      'PRAGMA busy_timeout=1000; PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE',
    );
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) {
      const hint = '`phasegate down` ends a server in the background; end any other where it was started';
      throw unavailable(to, 'another process has it open; stop it first', { cause: error, hint });
    }
    if (storeFault(error, to).code === 'store_corrupt') return undefined;
    throw error;
  }
}

/** A second name for the present file, so that at no moment there is no database. */
function keepAside(to: string): string {
  for (let number = 1; ; number += 1) {
    const kept = `${to}.before-restore-${number}`;
    try {
      linkSync(to, kept);
      return kept;
    } catch (error) {
      if (own(error, 'code') !== 'EEXIST') throw error;
    }
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

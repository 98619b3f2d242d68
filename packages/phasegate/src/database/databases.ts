import { closeSync, constants, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { WorkflowDatabase } from '@phasegate/core/model';
import { copyRegular } from '../files/streamRegular.ts';
import type { DatabaseBackup, Databases } from '../runtime/ports.ts';
import { dropCopy, recordsIn } from './attemptRecord.ts';
import { keepAside, makeBackup, pruneBackups } from './backups.ts';
import { beginReading, connect, removeDatabase, replaceContents, requireSound } from './copies.ts';
import { attemptsFolder, type DatabasePlace, findDatabase, readMigrations } from './databasePlace.ts';
import { hashFile } from './fingerprint.ts';
import { isAsSealed } from './installReady.ts';
import { applyMigrations } from './migrations.ts';
import { keepPlace, protectionOf } from './protectedPlaces.ts';
import { databaseFault, isBusy, refused } from './refused.ts';
import { type LoadRun, settleLeftovers } from './settleLeftovers.ts';
import { changedMeanwhile, startAttempt } from './startAttempt.ts';
import { type Turn, takeTurn } from './takeTurn.ts';
import { waitingCopy } from './waitingCopy.ts';
import { type Patience, whenFree } from './whenFree.ts';

/** What the databases of a project need. */
export interface DatabasesParts {
  /** Of the project, absolute. */
  readonly root: string;
  /** Where attempts are kept. */
  readonly stateDir: string;
  /** In milliseconds. */
  readonly now: () => number;
  readonly newId: () => string;
  /** How long to wait for others. */
  readonly busyMs: number;
}

/** Protects the authors' databases of a project: attempts on copies, backups and migrations. */
export function createDatabases({ root, stateDir, now, newId, busyMs }: DatabasesParts): Databases {
  const patience: Patience = { busyMs };
  let load: LoadRun | null = null;

  /** Nothing is built on a database that an accepted step has still to be put into. */
  async function turnAt({ file, folder }: DatabasePlace, waiting: Patience): Promise<Turn> {
    const turn = await takeTurn(folder, file, waiting);
    try {
      await settleLeftovers(folder, { load, patience, now });
      return turn;
    } catch (error) {
      turn.leave();
      throw error;
    }
  }

  async function inTurn<Value>(database: WorkflowDatabase, work: (place: DatabasePlace) => Promise<Value>) {
    const place = await findDatabase(root, database.file, stateDir);
    const turn = await turnAt(place, patience);
    try {
      // Looked at again: the one who had the turn may have made it.
      return await work(await findDatabase(root, database.file, stateDir));
    } finally {
      turn.leave();
    }
  }

  async function migrate(database: WorkflowDatabase): Promise<readonly string[]> {
    const { migrations: given, accepted } = database;
    if (given === null) return [];
    const migrations = await readMigrations(root, given, accepted);
    return inTurn(database, async ({ file, exists }) => {
      if (!exists) makeEmpty(file);
      const names: string[] = [];
      const applied = (name: string) => names.push(name);
      try {
        await whenFree(file, patience, () =>
          applyMigrations(file, migrations, { now, applied, later: accepted !== undefined }),
        );
        return names;
      } catch (error) {
        if (!exists && names.length === 0) removeDatabase(file);
        throw error;
      }
    });
  }

  /** One that is not there is made by its migrations, where it has some. */
  async function present(database: WorkflowDatabase): Promise<DatabasePlace> {
    const place = await findDatabase(root, database.file, stateDir);
    if (place.exists) return place;
    if (database.migrations === null) throw missing(database.file);
    await migrate(database);
    return findDatabase(root, database.file, stateDir);
  }

  async function backUp(file: string, run: string | null): Promise<DatabaseBackup> {
    const source = connect(file);
    try {
      await whenFree(file, patience, () => beginReading(source));
      const path = await makeBackup(source, file, now());
      return await recordOf(path, run);
    } finally {
      source.close();
    }
  }

  async function recordOf(path: string, run: string | null): Promise<DatabaseBackup> {
    return {
      id: newId(),
      createdAt: new Date(now()).toISOString(),
      path,
      run,
      sizeBytes: statSync(path).size,
      sha256: await hashFile(path),
    };
  }

  return {
    async begin({ database, signal }) {
      const place = await present(database);
      const { file, folder } = place;
      await requireWritable(file);
      const waiting = { busyMs, signal };
      const turn = await turnAt(place, waiting);
      try {
        return await startAttempt({ id: newId(), file, folder, turn, patience: waiting, now });
      } catch (error) {
        turn.leave();
        throw signal?.aborted ? error : databaseFault(error, file);
      }
    },
    async waiting({ run, database, hash }) {
      const folder = await attemptsFolder(root, database.file, stateDir);
      const record = recordsIn(folder).find(({ mark, sealed }) => mark.run === run && sealed === hash);
      if (record === undefined || !(await isAsSealed(folder, record))) return null;
      const takeIts = async () => {
        const place = await findDatabase(root, database.file, stateDir);
        if (!place.exists) throw changedMeanwhile(place.file);
        return turnAt(place, patience);
      };
      return waitingCopy({ folder, record, takeTurn: takeIts, patience, now });
    },
    async drop({ run, database, hash }) {
      const folder = await attemptsFolder(root, database.file, stateDir);
      for (const { id, mark, sealed } of recordsIn(folder)) {
        if (mark.run === run && sealed === hash) dropCopy(folder, id);
      }
    },
    async recover(from) {
      load = from;
      const faults: unknown[] = [];
      for (const folder of foldersIn(join(stateDir, 'attempts'))) {
        try {
          // Busy means that its owner lives, and will finish it.
          const turn = await takeTurn(folder, folder, { busyMs: 0 }).catch(unlessBusy);
          if (turn === null) continue;
          await settleLeftovers(folder, { load, patience, now }).finally(turn.leave);
        } catch (error) {
          // One database in trouble must not keep the others from their steps.
          faults.push(error);
        }
      }
      if (faults.length > 0) throw faults[0];
    },
    async backup(run, database) {
      const { file } = await present(database);
      try {
        const made = await backUp(file, run);
        pruneBackups(file, Math.max(1, database.keep), [made.path]);
        return made;
      } catch (error) {
        throw databaseFault(error, file);
      }
    },
    restore: (backup, database) =>
      inTurn(database, async ({ file, exists }) => {
        const copy = await copyToRestore(backup);
        try {
          const before = exists ? await backUp(file, null).catch((error) => setAside(file, error)) : null;
          if (before === null) makeEmpty(file);
          await replaceContents(copy, file, { patience, changed: () => null }).catch((error) => {
            throw databaseFault(error, file);
          });
          pruneBackups(file, Math.max(1, database.keep), [backup.path, before?.path ?? '']);
          return before ?? backup;
        } finally {
          removeDatabase(copy);
        }
      }),
    migrate,
    async protect(database) {
      keepPlace(stateDir, database);
    },
    protection: async () => protectionOf(stateDir),
  };

  /** INVARIANT: what is put back are the bytes that were looked at: nobody else knows where the copy lies. */
  async function copyToRestore({ path, sha256 }: DatabaseBackup): Promise<string> {
    const copy = join(stateDir, `${newId()}.restoring`);
    try {
      const opened = openSync(copy, 'wx', 0o600);
      try {
        await copyRegular(path, opened);
      } finally {
        closeSync(opened);
      }
      if (sha256 !== undefined && (await hashFile(copy)) !== sha256)
        throw refused(`the backup \`${path}\` is not what it was when it was made`, OTHERS);
      requireDatabase(copy, path);
      return copy;
    } catch (error) {
      removeDatabase(copy);
      throw databaseFault(error, path);
    }
  }

  /** What cannot be read as a database any more is kept all the same, and makes room. */
  async function setAside(file: string, error: unknown): Promise<DatabaseBackup> {
    if (isBusy(error)) throw databaseFault(error, file);
    const path = keepAside(file, file, now(), 'damaged');
    removeDatabase(file);
    makeEmpty(file);
    return recordOf(path, null);
  }
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
  } catch {
    // No attempt was ever made.
    return [];
  }
}

function makeEmpty(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  closeSync(openSync(file, 'a', 0o644));
}

async function requireWritable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK | constants.W_OK);
    await access(dirname(file), constants.W_OK);
  } catch (error) {
    throw new PhasegateError('file_unreadable', `the database \`${file}\` cannot be written`, {
      cause: error,
    });
  }
}

function requireDatabase(file: string, shown: string): void {
  const database = connect(file);
  try {
    requireSound(database, `\`${shown}\``);
  } finally {
    database.close();
  }
}

const OTHERS = 'nothing was changed; `phasegate database backups` shows the others';

function unlessBusy(error: unknown): null {
  if (isBusy(error)) return null;
  throw error;
}

function missing(file: string): PhasegateError {
  return new PhasegateError('file_unreadable', `there is no database \`${file}\``, {
    hint: 'make it, or give the workflow a folder of `migrations` that do',
  });
}

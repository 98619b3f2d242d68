import { existsSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { foldStepwise } from '@phasegate/core/engine';
import { reasonOf } from '@phasegate/core/model';
import { databaseAddress } from './config/databaseAddress.ts';
import { makeFolder } from './config/makeFolder.ts';
import { requireOwnState } from './config/requireOwnState.ts';
import { sharedKeysFile } from './config/sharedKeys.ts';
import type { ProjectKeys } from './runtime/keys.ts';
import type { Seal, Store } from './runtime/ports.ts';
import { requireSameKeys } from './sameKeys.ts';

/** Where the keys of a project are: in its state directory, or in a file that nodes share. */
export interface KeysPlace {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A store that was opened, and the keys it is sealed with. */
export interface OpenedStore {
  readonly store: Store;
  readonly seal: Seal;
  readonly keys: ProjectKeys;
}

/** Where the state of a project is. */
export interface StatePlace extends KeysPlace {
  /** The database that was named for it. */
  readonly database?: string | undefined;
}

/** Opens the store that the runs of a project are in: a file of its state directory, or a database that was named. */
export async function openState(place: StatePlace): Promise<OpenedStore> {
  const { root, stateDir, env, database } = place;
  const address = databaseAddress(stateDir, env, database);
  if (address === null) return openFile(place, join(stateDir, DATABASE));
  makeFolders(stateDir);
  const [{ openPostgresStore }, { decisionIsSigned }, { findKeys, findSharedKeys }, { createSeal }] =
    await Promise.all([
      import('@phasegate/postgres'),
      import('./runtime/openProject.ts'),
      import('./runtime/keys.ts'),
      import('./runtime/seal.ts'),
    ]);
  const shared = sharedKeysFile(root, env);
  const found = shared === null ? findKeys(stateDir) : findSharedKeys(stateDir, shared);
  const seal = createSeal(found.keys);
  const store = await openPostgresStore({
    url: address.url,
    seal,
    existed: address.known || existsSync(join(stateDir, MADE)),
    fold: foldStepwise,
    verifyDecision: decisionIsSigned,
  });
  try {
    const { keep, takeBack } = found;
    await requireSameKeys(store, { file: shared ?? join(stateDir, 'keys.json'), keep, takeBack });
  } catch (error) {
    await store.close();
    // Several first processes of one node make keys at once, and all go by those of the quickest.
    if (found.areOvertaken()) return openState(place);
    throw error;
  }
  address.remember();
  rememberMade(stateDir);
  return { store, seal, keys: found.keys };
}

/** Whether the runs of a project are in a file here, which can be replaced by another. */
export function isInFile({ stateDir, env, database }: Omit<StatePlace, 'root'>): boolean {
  return databaseAddress(stateDir, env, database) === null;
}

/** Opens a file as the store of a project. */
export async function openFile(place: KeysPlace, file: string): Promise<OpenedStore> {
  const { stateDir } = place;
  makeFolders(stateDir);
  const [{ openSqliteStore }, { decisionIsSigned }, { seal, keys }] = await Promise.all([
    import('./stores/sqlite/openSqliteStore.ts'),
    import('./runtime/openProject.ts'),
    sealAndKeys(place),
  ]);
  if (basename(file) === DATABASE) requireNotRemoved(file, join(stateDir, MADE));
  const threads = async () => (await import('./verifyThreads.ts')).verifyThreads(keys);
  const knowledge = { fold: foldStepwise, verifyDecision: decisionIsSigned };
  const store = openSqliteStore({ file, seal, now: Date.now, ...knowledge, threads });
  if (basename(file) === DATABASE) rememberMade(stateDir);
  return { store, seal, keys };
}

/** The file of the embedded database. */
export const DATABASE = 'state.db';
const MADE = 'made';

function rememberMade(stateDir: string): void {
  const made = join(stateDir, MADE);
  if (!existsSync(made)) writeFileSync(made, '', { mode: 0o600 });
}

/** A database that was there and is gone must not be made anew: all runs and humans would be gone with it, unsaid. */
function requireNotRemoved(file: string, made: string): void {
  if (!existsSync(made) || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  throw new PhasegateError('store_corrupt', `\`${file}\` was there and is gone or empty`, {
    hint: 'run `phasegate restore FILE` with a backup',
  });
}

/** Makes the state directory, and refuses one that others could change. */
export function makeFolders(stateDir: string): void {
  try {
    makeFolder(join(stateDir, 'backups'));
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new PhasegateError('store_unavailable', `\`${stateDir}\` cannot be made or written: ${reason}`, {
      cause,
      hint: 'make its folder one that you can write to, or name another with XDG_STATE_HOME',
    });
  }
  requireOwnState(stateDir);
}

/** The seal of a project. */
export async function sealFor(place: KeysPlace): Promise<Seal> {
  return (await sealAndKeys(place)).seal;
}

async function sealAndKeys({ root, stateDir, env }: KeysPlace): Promise<Omit<OpenedStore, 'store'>> {
  const [{ openKeys, takeSharedKeys }, { createSeal }] = await Promise.all([
    import('./runtime/keys.ts'),
    import('./runtime/seal.ts'),
  ]);
  const shared = sharedKeysFile(root, env);
  const keys = shared === null ? openKeys(stateDir) : takeSharedKeys(stateDir, shared);
  return { seal: createSeal(keys), keys };
}

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';
import { reasonOf, systemReason } from '@phasegate/core/model';
import { corruptKeys, keysFrom, type ProjectKeys, type TokenSecret, type TokenSecrets } from './keysText.ts';

export type { ProjectKeys, TokenSecret, TokenSecrets } from './keysText.ts';

/** Keys that are known, and perhaps not in the state directory yet. */
export interface FoundKeys {
  readonly keys: ProjectKeys;
  /** Puts them there, on disk. Refused where another process has put others there meanwhile. */
  keep(): void;
  /** Whether another process has done so: then those are the keys of this state directory. */
  areOvertaken(): boolean;
  /**
   * Removes what `keep` of this very object has put there, where nothing can be sealed with it. Keys that were there
   * before stay, and so do those of another process, and all of a state directory that has been begun.
   */
  takeBack(): void;
}

/** Reads the project's keys, or makes them where there is no state yet. Never makes them anew over existing state. */
export function openKeys(stateDir: string): ProjectKeys {
  const file = join(stateDir, KEYS_FILE);
  return presentKeys(stateDir, file) ?? makeKeys(stateDir, file, newKeys());
}

/**
 * The same, and nothing is written before `keep`: for a store that may turn out to be sealed with other keys. INVARIANT:
 * keys are on disk before anything is sealed with them for good.
 */
export function findKeys(stateDir: string): FoundKeys {
  const file = join(stateDir, KEYS_FILE);
  const present = presentKeys(stateDir, file);
  if (present !== undefined)
    return { keys: present, keep: () => undefined, areOvertaken: () => false, takeBack: () => undefined };
  const keys = newKeys();
  let isMade = false;
  const areOthers = (there: ProjectKeys | undefined) => there !== undefined && there.rows !== keys.rows;
  return {
    keys,
    keep() {
      isMade = !areOthers(makeKeys(stateDir, file, keys));
      if (isMade) return;
      throw new PhasegateError('store_unavailable', `another process has made \`${file}\` at the same time`, {
        hint: 'start again, with the keys that are there now',
      });
    },
    areOvertaken: () => areOthers(readKeys(file)),
    takeBack: () => (isMade ? removeKeys(stateDir, keys) : undefined),
  };
}

/**
 * Takes the keys of a project from a file that several nodes share, and keeps a copy where its own would be. INVARIANT:
 * what a state directory was begun with stays: only the secrets of tokens may become others.
 */
export function takeSharedKeys(stateDir: string, shared: string): ProjectKeys {
  const { keys, keep } = findSharedKeys(stateDir, shared);
  keep();
  return keys;
}

/** The same, and no copy is written before `keep`. */
export function findSharedKeys(stateDir: string, shared: string): FoundKeys {
  const keys = readShared(shared);
  const file = join(stateDir, KEYS_FILE);
  const own = readKeys(file);
  if (own !== undefined && (own.rows !== keys.rows || own.audit.privateKey !== keys.audit.privateKey)) {
    throw new PhasegateError(
      'store_unavailable',
      `the keys in \`${shared}\` are others than \`${file}\`, with which this state directory was begun`,
      { hint: 'name the file with the keys of this project, or begin with an empty state directory' },
    );
  }
  const isCopied = JSON.stringify(own) === JSON.stringify(keys) && rememberedShared(stateDir) === shared;
  let isMade = false;
  const keep = () => {
    if (isCopied) return;
    replaceKeys(file, { ...keys, shared });
    isMade = own === undefined;
  };
  const takeBack = () => (isMade ? removeKeys(stateDir, keys) : undefined);
  return { keys, keep, areOvertaken: () => false, takeBack };
}

/** The file that the keys in a state directory were taken from last; null where they are its own, or nobody can say. */
export function rememberedShared(stateDir: string): string | null {
  try {
    const shared = own(JSON.parse(readFileSync(join(stateDir, KEYS_FILE), 'utf8')), 'shared');
    return typeof shared === 'string' ? shared : null;
  } catch {
    // The one who needs the keys themselves says what is wrong with them.
    return null;
  }
}

/**
 * Makes a new token secret; the present one becomes the previous, which still verifies. One process at a time. Where
 * nodes share a file, it is made there.
 */
export function rotateTokenSecret(stateDir: string, shared: string | null = null): ProjectKeys {
  const file = shared ?? join(stateDir, KEYS_FILE);
  const present = () => (shared === null ? openKeys(stateDir) : takeSharedKeys(stateDir, shared));
  const remembered = rememberedShared(stateDir);
  if (shared === null && remembered !== null) throw rotatedElsewhere(remembered);
  // Made first where there are none: the lock lies beside them.
  present();
  return holdingLock(`${file}.lock`, () => {
    const keys = present();
    const rotated = { ...keys, tokens: { current: newTokenSecret(), previous: keys.tokens.current } };
    replaceKeys(file, rotated);
    return rotated;
  });
}

/**
 * The token secrets as they are on disk, read again only when the file is another: the same object until then. A shared
 * file that cannot be believed refuses every token until it can.
 */
export function tokenSecretsOf(stateDir: string, shared: string | null = null): () => TokenSecrets {
  const file = shared ?? join(stateDir, KEYS_FILE);
  let seen: string | undefined;
  let secrets: TokenSecrets | undefined;
  return () => {
    const now = identityOf(file);
    if (secrets !== undefined && now !== undefined && now === seen) return secrets;
    secrets = (shared === null ? openKeys(stateDir) : believedKeys(stateDir, shared)).tokens;
    seen = now;
    return secrets;
  };
}

/** The one who asks for a token is told that it is the keys, and not the store, that cannot be used. */
function believedKeys(stateDir: string, shared: string): ProjectKeys {
  try {
    return takeSharedKeys(stateDir, shared);
  } catch (cause) {
    const { message, hint } = cause as PhasegateError;
    throw new PhasegateError('keys_unavailable', message, hint === undefined ? { cause } : { cause, hint });
  }
}

/** INVARIANT: what is rotated is what nodes go by. A rotation that changes a copy alone would end no stolen token. */
function rotatedElsewhere(shared: string): PhasegateError {
  return new PhasegateError(
    'usage',
    `the keys of this project are taken from \`${shared}\`, and rotated there`,
    {
      hint: `set PHASEGATE_KEYS_FILE=${shared}, as the nodes do; where none does any more, take \`shared\` out of ${KEYS_FILE}`,
    },
  );
}

/** Keys that others could read or replace are nobody's. What is looked at is what is read. */
function readShared(file: string): ProjectKeys {
  let text: string;
  try {
    for (const folder of new Set([dirname(file), dirname(realpathSync(file))]))
      requireOwnFolder(file, folder);
    // Without waiting: what is not a file may have nobody at its other end.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      requirePrivate(file, fstatSync(descriptor));
      text = readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof PhasegateError) throw error;
    if (own(error, 'code') !== 'ENOENT') throw unavailable(file, error);
    throw new PhasegateError('store_unavailable', `\`${file}\`, which is to have the keys, is not there`, {
      hint: 'copy `keys.json` there from the state directory of the first node, readable by this user alone',
    });
  }
  return keysFrom(file, text);
}

function requirePrivate(file: string, stats: Stats): void {
  const user = process.getuid?.();
  const problem = !stats.isFile()
    ? 'is not a file'
    : (stats.mode & 0o077) !== 0
      ? 'can be read or written by others'
      : user !== undefined && stats.uid !== user && stats.uid !== 0
        ? `belongs to user ${stats.uid}, not to ${user}`
        : null;
  if (problem === null) return;
  throw new PhasegateError('store_unavailable', `\`${file}\` ${problem}, so it cannot hold keys`, {
    hint: `chmod 600 ${file}, as a file of the user who serves`,
  });
}

/** Where others can write, they put another file of ours in its place: one with a secret that was rotated away. */
function requireOwnFolder(file: string, folder: string): void {
  const { mode, uid } = statSync(folder);
  const user = process.getuid?.();
  const isOurs = user === undefined || uid === user || uid === 0;
  // With the sticky bit nobody replaces what is another's.
  if (isOurs && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)) return;
  throw new PhasegateError('store_unavailable', `\`${file}\` lies where others can replace it`, {
    hint: `chmod go-w ${folder}, as a folder of the user who serves`,
  });
}

function replaceKeys(file: string, keys: KeptKeys): void {
  guardingDisk(file, () => {
    const draft = writeDraft(file, keys);
    renameSync(draft, file);
    syncDirectory(dirname(file));
  });
}

/** INVARIANT: only exactly these keys go, and none that a database was opened with here: it would be lost with them. */
function removeKeys(stateDir: string, keys: ProjectKeys): void {
  const file = join(stateDir, KEYS_FILE);
  if (BEGUN.some((name) => existsSync(join(stateDir, name)))) return;
  if (JSON.stringify(readKeys(file)) !== JSON.stringify(keys)) return;
  guardingDisk(file, () => {
    rmSync(file, { force: true });
    syncDirectory(stateDir);
  });
}

const KEYS_FILE = 'keys.json';
/** What a state directory has once a database was opened with its keys. */
const BEGUN = ['state.db', 'database-url', 'made'];

/** Keys as a file has them; a copy says of which file it is one. */
interface KeptKeys extends ProjectKeys {
  readonly shared?: string;
}

function presentKeys(stateDir: string, file: string): ProjectKeys | undefined {
  const present = readKeys(file);
  if (present !== undefined) return present;
  if (['state.db', 'database-url'].every((name) => !existsSync(join(stateDir, name)))) return undefined;
  // Another first process may have made both since we looked: it writes the keys before the database.
  const late = readKeys(file);
  if (late !== undefined) return late;
  throw new PhasegateError(
    'store_corrupt',
    `the keys are missing: \`${file}\` is gone while the database it sealed is still there`,
    { hint: `put \`${KEYS_FILE}\` back from where it was kept; new keys could not verify the old state` },
  );
}

/** Puts them in their place, and answers what is there: what another first process made, where that was quicker. */
function makeKeys(stateDir: string, file: string, keys: ProjectKeys): ProjectKeys {
  const won = guardingDisk(file, () => {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const draft = writeDraft(file, keys);
    try {
      // A link, unlike a rename, never replaces what another first process has put there meanwhile.
      linkSync(draft, file);
      return true;
    } catch (error) {
      if (own(error, 'code') === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(draft, { force: true });
      syncDirectory(stateDir);
    }
  });
  if (won) return keys;
  const winner = readKeys(file);
  if (winner === undefined) throw corruptKeys(file, 'it disappeared while it was being made');
  return winner;
}

function newKeys(): ProjectKeys {
  const pair = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
  return {
    audit: {
      publicKey: pair.publicKey.toString('base64url'),
      privateKey: pair.privateKey.toString('base64url'),
    },
    rows: randomBytes(32).toString('base64url'),
    tokens: { current: newTokenSecret(), previous: null },
  };
}

/**
 * A rotation replaces the file, so that it has another inode even within one tick of the clock. Who may read it is part
 * of what it is. Undefined for one that cannot be looked at: who reads it then says why.
 */
function identityOf(file: string): string | undefined {
  try {
    const { ino, mtimeMs, ctimeMs, size, mode, uid } = statSync(file);
    return [ino, mtimeMs, ctimeMs, size, mode, uid].join(' ');
  } catch {
    return undefined;
  }
}

/** Two rotations at once would throw out anyone who holds a token of the secret that is lost between them. */
function holdingLock<T>(lock: string, act: () => T): T {
  const patience = 100;
  for (let round = 0; ; round += 1) {
    try {
      closeSync(openSync(lock, 'wx', 0o600));
      break;
    } catch (error) {
      if (own(error, 'code') !== 'EEXIST') throw unavailable(lock, error);
      if (round === patience) {
        throw new PhasegateError('store_unavailable', `another process is rotating: \`${lock}\` is there`, {
          hint: 'if none is, remove that file',
        });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
  try {
    return act();
  } finally {
    rmSync(lock, { force: true });
  }
}

function newTokenSecret(): TokenSecret {
  return { kid: randomBytes(8).toString('hex'), secret: randomBytes(32).toString('base64url') };
}

function readKeys(file: string): ProjectKeys | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (own(error, 'code') === 'ENOENT') return undefined;
    throw unavailable(file, error);
  }
  return keysFrom(file, text);
}

/** Writes the keys beside their place, on disk before anyone can see them under their name. */
function writeDraft(file: string, keys: KeptKeys): string {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, `${JSON.stringify({ version: 1, ...keys }, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return draft;
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function guardingDisk<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw unavailable(file, error);
  }
}

function unavailable(file: string, cause: unknown): PhasegateError {
  const hint = systemReason(cause)?.hint;
  return new PhasegateError('store_unavailable', `\`${file}\` cannot be used: ${reasonOf(cause)}`, {
    cause,
    ...(hint === undefined ? {} : { hint }),
  });
}

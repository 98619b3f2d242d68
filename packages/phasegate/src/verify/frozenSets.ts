import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, isJsonObject, type Json } from '@phasegate/core';
import type { DependencyKind, FrozenSet, Seal } from '@phasegate/core/ports';
import { streamRegular } from '../files/streamRegular.ts';

/** A frozen set with what it is known by on this machine. */
export interface KeptSet extends FrozenSet {
  /** Hash over path, size, inode and change date of every entry: what was written since shows, without reading it all. */
  readonly stamp: string;
}

/** The engine's own copies of dependencies, in the state directory. */
export interface FrozenSets {
  /** Where the copy of a lockfile with that hash is, or would be. */
  folder(kind: DependencyKind, hash: string): string;
  /** The record of a copy; null where there is none, or nobody of this project signed it. */
  read(kind: DependencyKind, hash: string): KeptSet | null;
  /** Whether every entry is the one that was frozen. */
  isAsFrozen(set: KeptSet): boolean;
  /** Whether there is a copy for that lockfile as it was at another time. */
  hasOther(kind: DependencyKind, lockfile: string): boolean;
  /** An empty folder to install into. */
  stage(kind: DependencyKind): string;
  /** Puts a staged folder in its place and signs its record. */
  keep(staged: string, set: Omit<FrozenSet, 'content' | 'files'>): Promise<FrozenSet>;
}

/** Opens them below a state directory. */
export function openFrozenSets(stateDir: string, seal: Pick<Seal, 'sign' | 'verifySignature'>): FrozenSets {
  const root = join(stateDir, 'deps');
  const folder = (kind: DependencyKind, hash: string) => join(root, `${kind}-${hash}`);

  function recordIn(name: string): KeptSet | null {
    try {
      const { signature, ...record } = JSON.parse(
        readFileSync(join(root, name, RECORD), 'utf8'),
      ) as KeptSet & {
        readonly signature: string;
      };
      const isOurs =
        isJsonObject(record as unknown as Json) && seal.verifySignature(textOf(record), signature);
      return isOurs && name === `${record.kind}-${record.hash}` ? record : null;
    } catch {
      return null;
    }
  }

  return {
    folder,
    read: (kind, hash) => recordIn(`${kind}-${hash}`),
    isAsFrozen: (set) => stampOf(join(folder(set.kind, set.hash), TREE)) === set.stamp,
    hasOther: (kind, lockfile) =>
      namesIn(root).some((name) => {
        const record = name.startsWith(`${kind}-`) ? recordIn(name) : null;
        return record !== null && record.lockfile === lockfile;
      }),
    stage(kind) {
      const staged = join(root, `.new-${kind}-${randomBytes(6).toString('hex')}`);
      mkdirSync(join(staged, TREE), { recursive: true, mode: 0o700 });
      return staged;
    },
    async keep(staged, set) {
      const place = folder(set.kind, set.hash);
      const { content, files } = await contentOf(join(staged, TREE));
      const aside = `${staged}.old`;
      if (existsSync(place)) renameSync(place, aside);
      renameSync(staged, place);
      rmSync(aside, { recursive: true, force: true });
      const record: KeptSet = { ...set, content, files, stamp: stampOf(join(place, TREE)) };
      const signed = { ...record, signature: seal.sign(textOf(record)) };
      writeFileSync(join(place, RECORD), `${JSON.stringify(signed, null, 2)}\n`, { mode: 0o600 });
      return record;
    },
  };
}

/** What is installed lies in this folder of a copy. */
export const TREE = 'tree';
const RECORD = 'record.json';

function textOf(record: KeptSet): string {
  return `deps\n${canonicalJson(record as unknown as Json)}`;
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Every entry below a folder, in one order. */
function* entriesOf(folder: string, path = ''): Generator<string> {
  for (const dirent of readdirSync(join(folder, path), { withFileTypes: true }).sort(byName)) {
    const name = path === '' ? dirent.name : `${path}/${dirent.name}`;
    if (dirent.isDirectory()) yield* entriesOf(folder, name);
    else yield name;
  }
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

function stampOf(folder: string): string {
  const sum = createHash('sha256');
  try {
    for (const path of entriesOf(folder)) {
      const { ino, size, ctimeNs, mode } = lstatSync(join(folder, path), { bigint: true });
      sum.update(`${path}\0${ino} ${size} ${ctimeNs} ${mode}\0`);
    }
  } catch {
    return '';
  }
  return sum.digest('hex');
}

async function contentOf(folder: string): Promise<Pick<FrozenSet, 'content' | 'files'>> {
  const sum = createHash('sha256');
  let files = 0;
  for (const path of entriesOf(folder)) {
    const place = join(folder, path);
    files += 1;
    sum.update(`${path}\0`);
    if (lstatSync(place).isSymbolicLink()) sum.update(readlinkSync(place));
    else for await (const piece of streamRegular(place)) sum.update(piece);
    sum.update('\0');
  }
  return { content: sum.digest('hex'), files };
}

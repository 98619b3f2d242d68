import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DependencyKind, FreeProgram } from '@phasegate/core/ports';
import { type KeptSet, TREE } from './frozenSets.ts';

/** Frozen dependencies as they are shown to a program. */
export interface Placed {
  /** Hash of their content; null where there are none. */
  readonly hash: string | null;
  readonly mounts: NonNullable<FreeProgram['placed']>;
  /** Folders that are shown where they lie. */
  readonly read: readonly string[];
  /** Folders with programs. */
  readonly path: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where a path of the room lies on this machine. */
  locate(path: string): string;
}

interface Places {
  /** The copy. */
  readonly folder: string;
  /** The tree that is run in. */
  readonly workspace: string;
}

/** Where a frozen set is put for the programs that look for it. */
export function placedBy(set: KeptSet, places: Places): Placed {
  const tree = join(places.folder, TREE);
  return { hash: set.content, ...BY_KIND[set.kind](tree, { ...places, lockfile: set.lockfile }) };
}

type Placing = (tree: string, places: Places & { readonly lockfile: string }) => Omit<Placed, 'hash'>;

const NOTHING: Omit<Placed, 'hash'> = {
  mounts: [],
  read: [],
  path: [],
  environment: {},
  locate: (path) => path,
};

const BY_KIND: Readonly<Record<DependencyKind, Placing>> = {
  npm: inNodeModules,
  pnpm: inNodeModules,
  pip: inVenv,
  uv: inVenv,
  go: (tree) => ({
    ...NOTHING,
    read: [tree],
    environment: {
      GOMODCACHE: join(tree, 'mod'),
      GOFLAGS: '-mod=readonly',
      GOPROXY: 'off',
      GOCACHE: '/tmp/go-build',
    },
  }),
  cargo: (tree) => ({
    ...NOTHING,
    read: [tree],
    environment: {
      CARGO_HOME: join(tree, 'cargo'),
      CARGO_NET_OFFLINE: 'true',
      CARGO_TARGET_DIR: '/tmp/target',
    },
  }),
};

/** Folders of caches that runners write beside packages. They are there, empty, so that something can be put in their place. */
export const CACHES = ['.vite', '.vite-temp', '.vitest', '.cache'] as const;

function inNodeModules(tree: string, { workspace, lockfile }: Places & { readonly lockfile: string }) {
  const base = dirname(lockfile) === '.' ? workspace : join(workspace, dirname(lockfile));
  const mounts = foldersIn(tree).flatMap((path) => [
    { from: join(tree, path), at: join(base, path) },
    ...CACHES.filter((name) => existsSync(join(tree, path, name))).map((name) => ({
      from: null,
      at: join(base, path, name),
    })),
  ]);
  const locate = (path: string) => {
    const mount = mounts.find(({ from, at }) => from !== null && path.startsWith(`${at}/`));
    return mount?.from == null ? path : `${mount.from}${path.slice(mount.at.length)}`;
  };
  return { ...NOTHING, mounts, path: [join(base, 'node_modules/.bin')], locate };
}

/** `node_modules` of the project itself and of its workspaces. */
function foldersIn(tree: string, path = ''): readonly string[] {
  return readdirSync(join(tree, path), { withFileTypes: true }).flatMap((dirent) => {
    if (!dirent.isDirectory()) return [];
    const name = path === '' ? dirent.name : `${path}/${dirent.name}`;
    return dirent.name === 'node_modules' ? [name] : foldersIn(tree, name);
  });
}

function inVenv(tree: string): Omit<Placed, 'hash'> {
  const venv = join(tree, 'venv');
  return {
    ...NOTHING,
    read: [tree],
    path: [join(venv, 'bin')],
    environment: { VIRTUAL_ENV: venv, PYTHONDONTWRITEBYTECODE: '1' },
  };
}

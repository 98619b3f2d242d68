import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { transformSync } from 'rolldown/utils';

/** `layers.json`: who may import whom. */
export interface Layers {
  readonly maxLines: number;
  /** Words that may not be part of a folder's or a file's name. */
  readonly forbiddenNames: readonly string[];
  /** Globals that reach for the clock, chance, the machine or the network. A dot names a member. */
  readonly impureGlobals: readonly string[];
  readonly rooms: Readonly<Record<string, Room>>;
  readonly exceptions: readonly Exception[];
}

/** A part of the house: files and folders, and the rooms they may look into. */
export interface Room {
  readonly holds: readonly string[];
  readonly sees: readonly string[] | '*';
  /** `pure`: no Node and none of the impure globals. `portable`: no Node. */
  readonly kind?: 'pure' | 'portable';
}

/** An arrow that would otherwise be refused, with its reason. */
export interface Exception {
  readonly from: string;
  readonly to: string;
  readonly only: 'type' | 'value';
  readonly why: string;
}

/** A published package: what its name is, what it exports and what it may import. */
export interface Package {
  /** Relative to the repository, e.g. `packages/core`. */
  readonly folder: string;
  readonly name: string;
  readonly dependencies: readonly string[];
  /** What it imports of its own files that is built from another package, e.g. `#wire` → `packages/wire/src/index.ts`. */
  readonly carried?: Readonly<Record<string, string>>;
  /** Export keys and the source file behind each, e.g. `.` → `packages/core/src/index.ts`. */
  readonly entries: Readonly<Record<string, string>>;
}

/** Sources by path relative to the repository, and the packages they belong to. */
export interface House {
  readonly files: ReadonlyMap<string, string>;
  readonly packages: readonly Package[];
}

/** Reads `layers.json`. */
export function readLayers(root: string): Layers {
  return JSON.parse(readFileSync(join(root, 'layers.json'), 'utf8')) as Layers;
}

/** Reads every TypeScript file under `packages/<name>/src`. */
export function readHouse(root: string): House {
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
  const files = new Map<string, string>();
  for (const folder of folders) {
    for (const file of filesUnder(root, `${folder}/src`)) files.set(file, sourceOf(root, file));
  }
  return { files, packages: folders.map((folder) => readPackage(root, folder)) };
}

/** False for tests and their fixtures, which may import whatever they prove. */
export function isSource(file: string): boolean {
  return !file.endsWith('.test.ts') && !file.split('/').includes('fixtures');
}

/** As it is written; markup is made calls first, since it is not made of the tokens of JavaScript. */
function sourceOf(root: string, file: string): string {
  const source = readFileSync(join(root, file), 'utf8');
  return file.endsWith('.tsx') ? transformSync(file, source, { jsx: { runtime: 'automatic' } }).code : source;
}

function filesUnder(root: string, folder: string): readonly string[] {
  if (statSync(join(root, folder), { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => posix.join(entry.parentPath.slice(root.length + 1), entry.name))
    .sort();
}

function readPackage(root: string, folder: string): Package {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly imports?: Readonly<Record<string, { readonly default: string }>>;
    readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const entries: Record<string, string> = {};
  for (const [key, value] of Object.entries(manifest.exports ?? {})) {
    if (typeof value === 'string') continue;
    entries[key] = posix.join(folder, value.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));
  }
  const carried = Object.entries(manifest.imports ?? {}).map(([key, { default: file }]) => [
    key,
    file.replace(/^\.\/dist\/(\w+)\/(.*)\.js$/, 'packages/$1/src/$2.ts'),
  ]);
  return {
    folder,
    name: manifest.name,
    dependencies: Object.keys(manifest.dependencies ?? {}),
    carried: Object.fromEntries(carried),
    entries,
  };
}

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { readRegular } from '../../files/readRegular.ts';
import { MAX_SOURCE_BYTES } from '../readSource.ts';
import { resolveFile } from './resolveImport.ts';

/** A file of a package, found as Node would find it. */
export interface PackageFile {
  /** Real path of the package's folder. */
  readonly folder: string;
  /** The `node_modules` it was found in; null where a package imports itself. */
  readonly foundIn: string | null;
  readonly name: string;
  /** Path of the file. */
  readonly file: string;
}

/** Which of a package's conditions hold. */
export type ImportKind = 'import' | 'require';

const SPECIFIER = /^(?<name>(?:@[^/@%\\]+\/)?[^./@%\\#][^/%\\]*)(?<subpath>\/.*)?$/s;

/** The file that a package's name, with or without a path in it, leads to from a file; undefined where there is none. */
export function resolvePackage(
  importer: string,
  specifier: string,
  kind: ImportKind,
): PackageFile | undefined {
  const { name, subpath = '' } = SPECIFIER.exec(specifier)?.groups ?? {};
  if (name === undefined) return undefined;
  for (let folder = dirname(importer); ; folder = dirname(folder)) {
    const foundIn = join(folder, 'node_modules');
    const place = join(foundIn, name);
    if (basename(folder) !== 'node_modules' && isFolder(place)) {
      const real = realpathSync(place);
      const file = fileIn(real, `.${subpath}`, kind);
      return file === undefined ? undefined : { folder: real, foundIn, name, file };
    }
    if (folder === dirname(folder)) return undefined;
  }
}

/** What an import inside a package means: `#name` by its `imports`, and its own name by its `exports`. */
export function resolveWithin(
  { folder, importer }: { readonly folder: string; readonly importer: string },
  specifier: string,
  kind: ImportKind,
): PackageFile | undefined {
  const { name, imports, exports } = manifestOf(folder);
  if (specifier.startsWith('#')) {
    const target = inMap(asMap(imports), specifier, kind);
    if (target === undefined) return undefined;
    if (!target.startsWith('./')) return resolvePackage(importer, target, kind);
    return own(folder, name, beneath(folder, target));
  }
  const isOwn = exports != null && typeof name === 'string' && `${specifier}/`.startsWith(`${name}/`);
  return isOwn
    ? own(folder, name, fileIn(folder, `.${specifier.slice(name.length)}`, kind))
    : resolvePackage(importer, specifier, kind);
}

function own(folder: string, name: unknown, file: string | undefined): PackageFile | undefined {
  return file === undefined ? undefined : { folder, foundIn: null, name: String(name), file };
}

/** Which file of a package a subpath (`.`, `./x`) means: by its `exports`, else by `main` or as a path. */
function fileIn(folder: string, subpath: string, kind: ImportKind): string | undefined {
  const { exports, main } = manifestOf(folder);
  if (exports != null) {
    const target = inMap(asExports(exports), subpath, kind);
    return target === undefined ? undefined : beneath(folder, target);
  }
  if (subpath !== '.') return loose(folder, subpath);
  return (typeof main === 'string' ? loose(folder, main) : undefined) ?? loose(folder, 'index');
}

/** A path without an extension, or a folder with a `package.json` of its own, as `require` takes them. */
function loose(folder: string, path: string): string | undefined {
  const base = join(folder, path);
  const found = resolveFile(base, true);
  if (found !== undefined && found === base) return inside(folder, found);
  const { main } = isFolder(base) ? manifestOf(base) : {};
  const nested = typeof main === 'string' ? resolveFile(join(base, main), true) : undefined;
  return inside(folder, nested ?? found);
}

/** What `exports` names is a file, exactly. */
function beneath(folder: string, target: string): string | undefined {
  const file = join(folder, target);
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? inside(folder, file) : undefined;
}

function inside(folder: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const way = relative(folder, file);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? undefined : file;
}

/** The target of the key that fits best, with what `*` stood for. */
function inMap(map: Record<string, unknown>, wanted: string, kind: ImportKind): string | undefined {
  if (Object.hasOwn(map, wanted) && !wanted.includes('*')) return targetOf(map[wanted], kind, '');
  const patterns = Object.keys(map).flatMap((key) => {
    const [start, end, ...more] = key.split('*');
    const fits =
      start !== undefined &&
      end !== undefined &&
      more.length === 0 &&
      wanted.startsWith(start) &&
      wanted.endsWith(end) &&
      wanted.length >= key.length;
    return fits
      ? [{ key, star: wanted.slice(start.length, wanted.length - end.length), length: start.length }]
      : [];
  });
  const [best] = patterns.sort((a, b) => b.length - a.length || b.key.length - a.key.length);
  return best === undefined ? undefined : targetOf(map[best.key], kind, best.star);
}

const CONDITIONS = ['node', 'node-addons', 'module-sync', 'default'];

function targetOf(target: unknown, kind: ImportKind, star: string): string | undefined {
  if (typeof target === 'string') return target.replaceAll('*', star);
  if (Array.isArray(target)) {
    for (const one of target) {
      const found = targetOf(one, kind, star);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [condition, value] of Object.entries(asMap(target))) {
    if (condition !== kind && !CONDITIONS.includes(condition)) continue;
    const found = targetOf(value, kind, star);
    if (found !== undefined || value === null) return found;
  }
  return undefined;
}

function asExports(exports: unknown): Record<string, unknown> {
  const keys = Object.keys(asMap(exports));
  return keys.length > 0 && keys.every((key) => key.startsWith('.')) ? asMap(exports) : { '.': exports };
}

function asMap(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** What a package says of itself; one without a readable `package.json` says nothing. */
function manifestOf(folder: string): Record<string, unknown> {
  const file = join(folder, 'package.json');
  try {
    const bytes = readRegular(file, { most: MAX_SOURCE_BYTES, links: 'follow' });
    return asMap(JSON.parse(bytes.toString('utf8')));
  } catch {
    return {};
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

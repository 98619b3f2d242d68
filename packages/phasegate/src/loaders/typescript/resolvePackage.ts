import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { FileView } from './fileView.ts';
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
  /** Paths of what led there: the package's `package.json`, and that of a folder in it. */
  readonly manifests: readonly string[];
}

/** Which of a package's conditions hold. */
export type ImportKind = 'import' | 'require';

const SPECIFIER = /^(?<name>(?:@[^/@%\\]+\/)?[^./@%\\#][^/%\\]*)(?<subpath>\/.*)?$/s;

/** A file in a package, and what else was read to find it. */
type FileIn = Pick<PackageFile, 'file' | 'manifests'>;

/** Finds files of packages among the files of a view. */
export class PackageResolver {
  readonly #view: FileView;

  constructor(view: FileView) {
    this.#view = view;
  }

  /** The file that a package's name, with or without a path in it, leads to from a file; undefined where there is none. */
  from(importer: string, specifier: string, kind: ImportKind): PackageFile | undefined {
    const { name, subpath = '' } = SPECIFIER.exec(specifier)?.groups ?? {};
    if (name === undefined) return undefined;
    for (let folder = dirname(importer); ; folder = dirname(folder)) {
      const foundIn = join(folder, 'node_modules');
      const place = join(foundIn, name);
      if (basename(folder) !== 'node_modules' && this.#view.isFolder(place)) {
        const real = this.#view.real(place);
        const found = this.#fileIn(real, `.${subpath}`, kind);
        return found === undefined ? undefined : { folder: real, foundIn, name, ...found };
      }
      if (folder === dirname(folder)) return undefined;
    }
  }

  /** What an import inside a package means: `#name` by its `imports`, and its own name by its `exports`. */
  within(
    { folder, importer }: { readonly folder: string; readonly importer: string },
    specifier: string,
    kind: ImportKind,
  ): PackageFile | undefined {
    const { name, imports, exports } = this.#manifestOf(folder);
    const own = (found: FileIn | undefined) =>
      found === undefined ? undefined : { folder, foundIn: null, name: String(name), ...found };
    if (specifier.startsWith('#')) {
      const target = inMap(asMap(imports), specifier, kind);
      if (target === undefined) return undefined;
      return target.startsWith('./') ? own(this.#beneath(folder, target)) : this.from(importer, target, kind);
    }
    const isOwn = exports != null && typeof name === 'string' && `${specifier}/`.startsWith(`${name}/`);
    return isOwn
      ? own(this.#fileIn(folder, `.${specifier.slice(name.length)}`, kind))
      : this.from(importer, specifier, kind);
  }

  /** Which file of a package a subpath (`.`, `./x`) means: by its `exports`, else by `main` or as a path. */
  #fileIn(folder: string, subpath: string, kind: ImportKind): FileIn | undefined {
    const { exports, main } = this.#manifestOf(folder);
    if (exports != null) {
      const target = inMap(asExports(exports), subpath, kind);
      return target === undefined ? undefined : this.#beneath(folder, target);
    }
    if (subpath !== '.') return this.#loose(folder, subpath);
    return (typeof main === 'string' ? this.#loose(folder, main) : undefined) ?? this.#loose(folder, 'index');
  }

  /** A path without an extension, or a folder with a `package.json` of its own, as `require` takes them. */
  #loose(folder: string, path: string): FileIn | undefined {
    const base = join(folder, path);
    if (!isInside(folder, base)) return undefined;
    const found = resolveFile(this.#view, base, true);
    if (found === base || !this.#view.isFolder(base)) return this.#found(folder, found);
    const { main } = this.#manifestOf(base);
    const nested = typeof main === 'string' ? resolveFile(this.#view, join(base, main), true) : undefined;
    return this.#found(folder, nested ?? found, base);
  }

  /** What `exports` names is a file, exactly. */
  #beneath(folder: string, target: string): FileIn | undefined {
    const file = join(folder, target);
    return this.#view.isFile(file) ? this.#found(folder, file) : undefined;
  }

  /** INVARIANT: every `package.json` that was asked is named, as another one would have led elsewhere. */
  #found(folder: string, file: string | undefined, nested = folder): FileIn | undefined {
    if (file === undefined || !isInside(folder, file)) return undefined;
    const asked = new Set([folder, nested].map((one) => join(one, 'package.json')));
    return { file, manifests: [...asked].filter((path) => this.#view.isFile(path)) };
  }

  /** What a package says of itself; one without a readable `package.json` says nothing. */
  #manifestOf(folder: string): Record<string, unknown> {
    try {
      return asMap(JSON.parse(this.#view.text(join(folder, 'package.json')) ?? '{}'));
    } catch {
      return {};
    }
  }
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
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

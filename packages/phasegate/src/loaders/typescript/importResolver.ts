import { existsSync, realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative, resolve, sep } from 'node:path';
import type { Problem } from '@phasegate/core';
import { LOADS_BY_ITSELF, OUR_ENTRIES } from './hostProtocol.ts';
import type { FoundImport } from './importsOf.ts';
import { resolveImport } from './resolveImport.ts';
import { type PackageFile, resolvePackage, resolveWithin } from './resolvePackage.ts';

/** A file of a closure, as it is to be read. */
export interface Place {
  /** The folder it must not leave: the project's root, or its package's. */
  readonly base: string;
  /** Relative to that folder. */
  readonly within: string;
  /** What it is called in the closure. */
  readonly path: string;
  /** Real path of its package's folder; null for a file of the project. */
  readonly folder: string | null;
}

/** What an import leads to: a file, nothing that needs hashing, or what is wrong with it. */
export type Resolved =
  | { readonly target: string; readonly places: readonly Place[] }
  | { readonly nothing: true }
  | Pick<Problem, 'code' | 'message'>;

const NOTHING = { nothing: true } as const;
const LOADED = /\.(?:[mc]?[jt]s|json)$/i;

/** Says which file each import of a closure means, and what that file is called in it. */
export class ImportResolver {
  /** Real folder of a package → what it is called. */
  readonly #names = new Map<string, string>();

  resolve(importer: Place & { readonly real: string }, { specifier, kind }: FoundImport): Resolved {
    if (specifier === null) {
      return wrong(
        'dynamic_import',
        'the name of an import must be plain text, and be found from this file, so that its file can be hashed',
      );
    }
    if (LOADS_BY_ITSELF.test(specifier)) {
      return wrong('dynamic_import', `\`${specifier}\` loads files that are not hashed; do without it`);
    }
    if (isBuiltin(specifier) || Object.hasOwn(OUR_ENTRIES, specifier)) return NOTHING;
    if (/^\.\.?(?:\/|$)/.test(specifier)) return this.#relative(importer, specifier);
    if (specifier.startsWith('/') || /^[a-z]+:/i.test(specifier)) {
      return wrong('path_outside', `\`${specifier}\` leaves the project; import by a relative path`);
    }
    const { folder, real } = importer;
    if (folder !== null) {
      const found = resolveWithin({ folder, importer: real }, specifier, kind);
      // Packages try what may not be there; at run time it is not there either.
      return found === undefined ? NOTHING : this.#ofPackage(specifier, found);
    }
    if (specifier.startsWith('#')) {
      return wrong('import_unresolved', `\`${specifier}\` is an alias; import by a relative path`);
    }
    const found = resolvePackage(real, specifier, kind);
    return found === undefined
      ? wrong('import_unresolved', `no package \`${specifier}\` is installed, or it does not export that`)
      : this.#ofPackage(specifier, found);
  }

  #relative({ base, within, folder, real }: Place & { readonly real: string }, specifier: string): Resolved {
    const file =
      folder === null
        ? resolveImport(resolve(base, within), specifier)
        : resolveImport(real, specifier, true);
    if (file === undefined) {
      return folder === null ? wrong('import_unresolved', `\`${specifier}\` does not exist`) : NOTHING;
    }
    const path = slashed(relative(base, file));
    if (path.startsWith('../')) {
      const home = folder === null ? 'project' : 'package';
      return wrong('path_outside', `\`${specifier}\` leaves the ${home}`);
    }
    const name = folder === null ? path : `${this.#names.get(folder)}/${path}`;
    return this.#file(specifier, file, [{ base, within: path, path: name, folder }]);
  }

  #ofPackage(specifier: string, found: PackageFile): Resolved {
    const { folder, file } = found;
    const name = this.#nameOf(found);
    const place = (within: string): Place => ({ base: folder, within, path: `${name}/${within}`, folder });
    // What a package says of itself decides which of its files are meant.
    const manifest = existsSync(join(folder, 'package.json')) ? [place('package.json')] : [];
    return this.#file(specifier, file, [place(slashed(relative(folder, file))), ...manifest]);
  }

  #file(specifier: string, file: string, places: readonly Place[]): Resolved {
    if (LOADED.test(file)) return { target: realpathSync(file), places };
    return wrong('import_unresolved', `\`${specifier}\` is neither JavaScript, TypeScript nor JSON`);
  }

  /** The same wherever the packages lie, so that what was accepted holds in a copy of the project too. */
  #nameOf({ folder, foundIn, name }: PackageFile): string {
    const known = this.#names.get(folder);
    if (known !== undefined) return known;
    const around = [...this.#names].find(([other]) => foundIn?.startsWith(`${other}${sep}`));
    const wanted = `${around === undefined ? '' : `${around[1]}/`}node_modules/${name}`;
    const taken = new Set(this.#names.values());
    let free = wanted;
    for (let number = 2; taken.has(free); number++) free = `${wanted}~${number}`;
    this.#names.set(folder, free);
    return free;
  }
}

function wrong(code: string, message: string): Resolved {
  return { code, message };
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}

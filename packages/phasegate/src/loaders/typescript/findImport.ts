import { isBuiltin } from 'node:module';
import { relative } from 'node:path';
import type { Problem } from '@phasegate/core';
import { type FileView, slashed } from './fileView.ts';
import { LOADS_BY_ITSELF, OUR_ENTRIES } from './hostProtocol.ts';
import type { FoundImport } from './importsOf.ts';
import { resolveImport } from './resolveImport.ts';
import { type PackageFile, PackageResolver } from './resolvePackage.ts';

/** The file that an import stands in. */
export interface Importer {
  /** The folder it must not leave: the project's root, or its package's. */
  readonly base: string;
  /** Its path as it was named. */
  readonly named: string;
  /** Where it really is, which is what Node asks of a package's file. */
  readonly real: string;
  /** Real path of its package's folder; null for a file of the project. */
  readonly folder: string | null;
}

/** What an import leads to: a file, nothing that needs hashing, or what is wrong with it. */
export type Found =
  | { readonly file: string; readonly home: PackageFile | null }
  | { readonly nothing: true }
  | Pick<Problem, 'code' | 'message'>;

const NOTHING = { nothing: true } as const;
const LOADED = /\.(?:[mc]?[jt]s|json)$/i;

/**
 * Says which file an import means among the files of a view. INVARIANT: this is the only place that does, for the files
 * of this machine and for those of a closure, so that the two can be compared.
 */
export class ImportFinder {
  readonly #view: FileView;
  readonly #packages: PackageResolver;

  constructor(view: FileView) {
    this.#view = view;
    this.#packages = new PackageResolver(view);
  }

  find(importer: Importer, { specifier, kind }: FoundImport): Found {
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
      const found = this.#packages.within({ folder, importer: real }, specifier, kind);
      // Packages try what may not be there; at run time it is not there either.
      return found === undefined ? NOTHING : fileOf(specifier, found.file, found);
    }
    if (specifier.startsWith('#')) {
      return wrong('import_unresolved', `\`${specifier}\` is an alias; import by a relative path`);
    }
    const found = this.#packages.from(real, specifier, kind);
    return found === undefined
      ? wrong('import_unresolved', `no package \`${specifier}\` is installed, or it does not export that`)
      : fileOf(specifier, found.file, found);
  }

  #relative({ base, named, folder, real }: Importer, specifier: string): Found {
    const inPackage = folder !== null;
    const importer = inPackage ? real : named;
    const file = resolveImport(this.#view, { importer, specifier, inPackage });
    if (file === undefined) {
      return inPackage ? NOTHING : wrong('import_unresolved', `\`${specifier}\` does not exist`);
    }
    if (slashed(relative(base, file)).startsWith('../')) {
      return wrong('path_outside', `\`${specifier}\` leaves the ${inPackage ? 'package' : 'project'}`);
    }
    return fileOf(specifier, file, null);
  }
}

function fileOf(specifier: string, file: string, home: PackageFile | null): Found {
  if (LOADED.test(file)) return { file, home };
  return wrong('import_unresolved', `\`${specifier}\` is neither JavaScript, TypeScript nor JSON`);
}

function wrong(code: string, message: string): Found {
  return { code, message };
}

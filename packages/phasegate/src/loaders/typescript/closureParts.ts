import { hash } from 'node:crypto';
import { canonicalJson, type Problem } from '@phasegate/core';
import { twinEntry } from '@phasegate/core/contract';
import { freeImports, type LinkedFile } from './freeImports.ts';
import type { SealedModule } from './hostProtocol.ts';
import { locationOf, type Place } from './importResolver.ts';

/** One file of a closure, or where an import leads that its files do not decide. */
export interface ClosureFile {
  /** Relative to the project, with forward slashes; of a package, from `node_modules` on, wherever that is. */
  readonly path: string;
  readonly sha256: string;
}

/** A file as it was read. */
export interface ReadFile {
  /** Absent where it cannot be read. */
  readonly file?: ClosureFile;
  /** Absent where its syntax is wrong. */
  readonly sealed?: SealedModule;
  /** Each of its imports, and what the file is called that it leads to. */
  readonly linked: LinkedFile['imports'];
}

/** What a closure consists of, as it is found. */
export class ClosureParts {
  readonly sealed: Record<string, SealedModule> = {};
  readonly #files: ClosureFile[] = [];
  readonly #linked: LinkedFile[] = [];
  /** What there is to say of files that are one, or of one that is two. */
  readonly #same: string[] = [];
  /** Where a file is → what it is called. */
  readonly #names = new Map<string, string>();

  /**
   * Adds a file. INVARIANT: a file that is imported by two names, as one of the project and as one of a linked package,
   * is run once, so its imports must mean the same under both.
   */
  add(place: Place, { file, sealed, linked }: ReadFile): readonly Problem[] {
    if (file === undefined) return [];
    this.#files.push(file);
    if (sealed === undefined) return [];
    this.#linked.push({
      path: file.path,
      text: sealed.format === 'json' ? sealed.source : '',
      imports: linked,
    });
    const location = locationOf(place);
    const name = this.#names.get(location);
    const other = this.sealed[location];
    if (name === undefined || other === undefined) {
      this.#names.set(location, file.path);
      this.sealed[location] = sealed;
      return [];
    }
    this.#same.push(twinEntry(file.path, name));
    if (canonicalJson({ ...sealed }) === canonicalJson({ ...other })) return [];
    const message = `\`${name}\` is also imported as \`${file.path}\`, where its own imports mean other files; import it by one name`;
    return [wrongIn(file.path, 'import_unresolved', message)];
  }

  /** A name of the closure that means another file as well: nothing that is hashed under it could stand for both. */
  clash(path: string): Problem {
    this.#same.push(twinEntry(path, 'another file too'));
    const message = `\`${path}\` stands for two different files; import what is in a package by the package's name alone`;
    return wrongIn(path, 'import_unresolved', message);
  }

  /** All of them, with where imports lead that these files do not decide. */
  files(): ClosureFile[] {
    const said = [...freeImports(this.#linked), ...this.#same];
    return [...this.#files, ...[...new Set(said)].map((path) => ({ path, sha256: hash('sha256', path) }))];
  }
}

/** A problem of a file as a whole. */
export function wrongIn(file: string, code: string, message: string): Problem {
  return { file, line: 1, column: 1, code, message, severity: 'error' };
}

import { join, relative, sep } from 'node:path';
import type { Problem } from '@phasegate/core';
import { ON_DISK, slashed } from './fileView.ts';
import { ImportFinder } from './findImport.ts';
import type { FoundImport } from './importsOf.ts';
import type { PackageFile } from './resolvePackage.ts';

/** A file of a closure, as it is to be read. */
export interface Place {
  /** Real path of the folder it must not leave: the project's root, or its package's. */
  readonly base: string;
  /** Relative to that folder. */
  readonly within: string;
  /** What it is called in the closure. */
  readonly path: string;
  /** Real path of its package's folder; null for a file of the project. */
  readonly folder: string | null;
}

/** What an import leads to: a file with what led to it, nothing that needs hashing, or what is wrong with it. */
export type Resolved =
  | { readonly target: Place; readonly manifests: readonly Place[] }
  | { readonly nothing: true }
  | Pick<Problem, 'code' | 'message'>;

/** Where a file of a closure is, by the name that it was imported under. */
export function locationOf({ base, within }: Pick<Place, 'base' | 'within'>): string {
  return join(base, within);
}

/** Says which file each import of a closure means, and what that file is called in it. */
export class ImportResolver {
  readonly #finder = new ImportFinder(ON_DISK);
  /** Real folder of a package → what it is called. */
  readonly #names = new Map<string, string>();

  resolve(importer: Place & { readonly real: string }, found: FoundImport): Resolved {
    const { base, folder, real } = importer;
    const outcome = this.#finder.find({ base, folder, real, named: locationOf(importer) }, found);
    if (!('file' in outcome)) return outcome;
    const { file, home } = outcome;
    if (home !== null) {
      const name = this.#nameOf(home, folder);
      const place = (path: string) => placeIn(home.folder, path, name);
      return { target: place(file), manifests: home.manifests.map(place) };
    }
    const within = slashed(relative(base, file));
    if (folder === null) return { target: { base, within, path: within, folder }, manifests: [] };
    return { target: placeIn(folder, file, this.#names.get(folder)), manifests: [] };
  }

  /** The same wherever the packages lie, so that what was accepted holds in a copy of the project too. */
  #nameOf({ folder, foundIn, name }: PackageFile, importer: string | null): string {
    const known = this.#names.get(folder);
    if (known !== undefined) return known;
    const around = [...this.#names].find(([other]) => foundIn?.startsWith(`${other}${sep}`));
    const wanted = `${around === undefined ? '' : `${around[1]}/`}node_modules/${name}`;
    const taken = new Set(this.#names.values());
    // Another version of a package is named by who wants it, as npm would have put it there.
    const asking = importer === null ? undefined : this.#names.get(importer);
    let free = taken.has(wanted) && asking !== undefined ? `${asking}/node_modules/${name}` : wanted;
    for (let number = 2; taken.has(free); number++) free = `${wanted}~${number}`;
    this.#names.set(folder, free);
    return free;
  }
}

function placeIn(folder: string, file: string, name: string | undefined): Place {
  const within = slashed(relative(folder, file));
  return { base: folder, within, path: `${name}/${within}`, folder };
}

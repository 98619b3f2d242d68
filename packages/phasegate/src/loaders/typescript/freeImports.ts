import { importEntry } from '@phasegate/core/contract';
import { slashed, viewOf } from './fileView.ts';
import { type Importer, ImportFinder } from './findImport.ts';
import type { FoundImport } from './importsOf.ts';

/** A file of a closure, and where its imports lead. */
export interface LinkedFile {
  readonly path: string;
  /** What it says, where that is JSON. */
  readonly text: string;
  readonly imports: readonly { readonly found: FoundImport; readonly target: string | null }[];
}

/**
 * The imports of a closure whose files do not follow from its own files, as names that stand among those. With them,
 * what a human accepts says of every import where it leads, whatever decides that on the disk: links, a folder of
 * packages that is nearer, a `package.json` that was another when it was asked. A closure without any has none of them.
 */
export function freeImports(files: readonly LinkedFile[]): readonly string[] {
  const finder = new ImportFinder(viewOf(new Map(files.map(({ path, text }) => [path, text]))));
  return files.flatMap(({ path, imports }) => {
    const importer = importerAt(path);
    return imports.flatMap(({ found, target }) => {
      const { specifier, kind } = found;
      const implied = finder.find(importer, found);
      const file = 'file' in implied ? slashed(implied.file).slice(1) : null;
      return specifier === null || file === target
        ? []
        : [importEntry({ importer: path, kind, specifier, target })];
    });
  });
}

const OF_PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

function importerAt(path: string): Importer {
  const folder = OF_PACKAGE.exec(path)?.[0];
  const place = `/${path}`;
  return {
    base: folder === undefined ? '/' : `/${folder}`,
    named: place,
    real: place,
    folder: folder === undefined ? null : `/${folder}`,
  };
}

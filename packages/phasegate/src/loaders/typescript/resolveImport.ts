import { dirname, join } from 'node:path';
import type { FileView } from './fileView.ts';

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'];
/** As Node has it: a package may bring its sources along with what was made from them. */
const IN_PACKAGES = ['.js', '.json', '.cjs', '.mjs', '.ts', '.mts'];
/** An import of `x.js` means `x.ts` where only that is there, as TypeScript has it. */
const TYPED: Readonly<Record<string, string>> = { '.js': '.ts', '.mjs': '.mts', '.cjs': '.cts' };

/** A relative import, and the file it stands in. */
export interface RelativeImport {
  readonly importer: string;
  readonly specifier: string;
  readonly inPackage: boolean;
}

/**
 * The file a relative import means, or undefined: exactly, in TypeScript instead of JavaScript, with an extension
 * added, or as a folder's index.
 */
export function resolveImport(
  view: FileView,
  { importer, specifier, inPackage }: RelativeImport,
): string | undefined {
  const base = join(dirname(importer), decoded(specifier.replace(/[?#].*$/s, '')));
  return resolveFile(view, base, inPackage);
}

/** The file that is meant by a path. */
export function resolveFile(view: FileView, base: string, inPackage: boolean): string | undefined {
  const extension = /\.[^./\\]+$/.exec(base)?.[0] ?? '';
  const typed = TYPED[extension];
  const extensions = inPackage ? IN_PACKAGES : EXTENSIONS;
  const candidates = [
    base,
    ...(typed === undefined ? [] : [`${base.slice(0, -extension.length)}${typed}`]),
    ...extensions.map((added) => `${base}${added}`),
    ...extensions.map((added) => join(base, `index${added}`)),
  ];
  return candidates.find((path) => view.isFile(path));
}

/** What cannot be decoded to text cannot be the name of a file. */
function decoded(specifier: string): string {
  try {
    return decodeURIComponent(specifier);
  } catch {
    return specifier;
  }
}

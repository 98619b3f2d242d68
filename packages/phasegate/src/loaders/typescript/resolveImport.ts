import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'];
/** An import of `x.js` means `x.ts` where only that is there, as TypeScript has it. */
const TYPED: Readonly<Record<string, string>> = { '.js': '.ts', '.mjs': '.mts', '.cjs': '.cts' };

/**
 * The file a relative import means, or undefined: exactly, in TypeScript instead of JavaScript, with an extension
 * added, or as a folder's index. Used by the loader that hashes and by the process that runs, so that both mean the same.
 */
export function resolveImport(importer: string, specifier: string): string | undefined {
  const base = join(dirname(importer), decodeURIComponent(specifier.replace(/[?#].*$/s, '')));
  const extension = /\.[^./\\]+$/.exec(base)?.[0] ?? '';
  const typed = TYPED[extension];
  const candidates = [
    base,
    ...(typed === undefined ? [] : [`${base.slice(0, -extension.length)}${typed}`]),
    ...EXTENSIONS.map((added) => `${base}${added}`),
    ...EXTENSIONS.map((added) => join(base, `index${added}`)),
  ];
  return candidates.find(isFile);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

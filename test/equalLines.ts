import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** So many lines that are equal in two files are a part that should be in one. */
export const MOST_EQUAL = 12;

/** Places where as many equal lines begin in two files, by `file:line`; imports and blank lines do not count. */
export function equalLines(files: Readonly<Record<string, string>>): readonly string[] {
  const seen = new Map<string, string>();
  const found: string[] = [];
  for (const [file, text] of Object.entries(files)) {
    const lines = codeLines(text);
    for (let at = 0; at + MOST_EQUAL <= lines.length; at += 1) {
      const part = lines.slice(at, at + MOST_EQUAL);
      const key = part.map(([line]) => line).join('\n');
      const place = `${file}:${part[0]?.[1]}`;
      const other = seen.get(key);
      if (other === undefined) seen.set(key, place);
      else if (!other.startsWith(`${file}:`)) {
        found.push(`${other} and ${place}`);
        // What follows is the rest of the same part.
        at += MOST_EQUAL - 1;
      }
    }
  }
  return found;
}

/** What is written, with the number of its line. */
function codeLines(text: string): readonly (readonly [string, number])[] {
  const withoutImports = text.replace(/^(?:import|export) [^;]*? from '[^']*';$/gm, (lines) =>
    lines.replace(/[^\n]+/g, ''),
  );
  return withoutImports
    .split('\n')
    .map((line, index) => [line.trim(), index + 1] as const)
    .filter(([line]) => line !== '');
}

/** The sources below some folders, without what is built, installed or only an example of something. */
function sourcesUnder(root: string, folders: readonly string[]): Readonly<Record<string, string>> {
  const walk = (folder: string): readonly string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      if (['node_modules', 'dist', 'fixtures'].includes(entry.name)) return [];
      const path = join(folder, entry.name);
      return entry.isDirectory() ? walk(path) : /\.tsx?$/.test(entry.name) ? [path] : [];
    });
  const files = folders.flatMap((folder) => walk(join(root, folder)));
  return Object.fromEntries(files.map((file) => [relative(root, file), readFileSync(file, 'utf8')]));
}

/** Migrations are never edited, old projects are kept as they were, and pins are literals on purpose. */
const EXEMPT = /\/migrations\/|^test\/compatibility\/|^test\/surface/;

/** The sources of a repository that are compared. */
export function comparedSources(root: string): Readonly<Record<string, string>> {
  const all = Object.entries(sourcesUnder(root, ['packages', 'test', 'bench', 'examples', 'release']));
  return Object.fromEntries(all.filter(([file]) => !EXEMPT.test(file)));
}

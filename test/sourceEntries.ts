import { existsSync, readdirSync, readFileSync } from 'node:fs';

const PACKAGES = new URL('../packages/', import.meta.url);

/** Every entry of every package, as it is imported, and the source file behind it. */
export function sourceEntries(): readonly { readonly find: RegExp; readonly replacement: string }[] {
  return readdirSync(PACKAGES).flatMap((folder) => {
    const home = new URL(`${folder}/`, PACKAGES);
    const manifest = new URL('package.json', home);
    return existsSync(manifest) ? entriesOf(home, JSON.parse(readFileSync(manifest, 'utf8'))) : [];
  });
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

function entriesOf(home: URL, { name, exports }: Manifest) {
  return Object.entries(exports).flatMap(([entry, file]) => {
    if (typeof file === 'string') return [];
    const source = file.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    const find = new RegExp(`^${name}${entry.slice(1)}$`);
    return { find, replacement: new URL(source, home).pathname };
  });
}

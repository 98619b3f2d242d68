import { type House, isSource } from './layers.ts';

/** What opens a path to read it, and waits for one who writes where that is a pipe. */
const READERS: ReadonlySet<string> = new Set([
  'readFileSync',
  'readFile',
  'createReadStream',
  'openSync',
  'open',
  'copyFileSync',
  'copyFile',
  'cp',
  'cpSync',
]);

/** How many plain reads each source file of these packages has, tests left out. */
export function plainReads(house: House, packages: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [file, source] of house.files) {
    if (!packages.some((name) => file.startsWith(`packages/${name}/src/`))) continue;
    if (!isSource(file)) continue;
    const count = readsIn(source);
    if (count > 0) found.set(file, count);
  }
  return found;
}

function readsIn(source: string): number {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').replace(FROM_FILES, '');
  const imports = [...source.matchAll(FROM_FILES)].map(([, what = '']) => what);
  // A whole module under a name of its own cannot be looked through.
  const whole = imports.filter((what) => !what.startsWith('{')).length;
  const named = imports.flatMap((what) => what.replace(/[{}]/g, '').split(',').flatMap(nameOf));
  const isLate = /import\(\s*'(?:node:)?fs/.test(code);
  const names = new Set([...named, ...(isLate ? READERS : [])]);
  return [...names].reduce((sum, name) => sum + callsOf(name, code), whole);
}

const FROM_FILES = /import\s+(\{[^}]*\}|[\w*][\w* ]*)\s+from\s+'(?:node:)?fs(?:\/promises)?';/g;

/** As it is called here, where it is one of them. */
function nameOf(word: string): readonly string[] {
  const [name = '', alias = name] = word.trim().split(/\s+as\s+/);
  return READERS.has(name) ? [alias] : [];
}

/** What is opened to be written is not a read. */
function callsOf(name: string, code: string): number {
  const calls = [...code.matchAll(new RegExp(`(?<![.\\w#])${name}\\b(?=[(,)])(.*)`, 'g'))];
  return calls.filter(([, rest = '']) => !/'(?:wx?|a)'/.test(rest)).length;
}

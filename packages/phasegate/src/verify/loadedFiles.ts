import { isJsonObject, type Json, own } from '@phasegate/core';
import { commandsIn, scriptsIn } from './scriptsOf.ts';

/** A tree, as far as it is asked here. */
export interface TreeFiles {
  readonly paths: ReadonlySet<string>;
  /** The text of a file, with no more than is read; null where there is none. */
  read(path: string): string | null;
  /** Where a link leads; null for everything else. */
  link(path: string): string | null;
}

/** What decides beside what the words of a check name. */
export interface Loaded {
  /** Files that scripts of `package.json` run, and that configs of runners load. */
  readonly files: readonly string[];
  /** Commands of the scripts that are run. */
  readonly commands: readonly (readonly string[])[];
  /** One that says only while it runs what it runs; null where all of them can be read. */
  readonly unknown: string | null;
}

/** What the words of a check lead to: scripts of the `package.json` of a folder, and what configs there load. */
export function loadedBy(
  commands: readonly (readonly string[])[],
  {
    folder,
    tree,
    configs,
  }: { readonly folder: string; readonly tree: TreeFiles; readonly configs: readonly string[] },
): Loaded {
  const manifest = jsonIn(tree.read(placed(folder, 'package.json')) ?? '');
  const scripts = own(manifest, 'scripts') ?? null;
  const isFile = (path: string) => tree.paths.has(placed(folder, path));
  const files = new Set<string>();
  const followed = new Set<string>();
  const found: (readonly string[])[] = [];
  let unknown: string | null = null;

  function follow(words: readonly string[]): void {
    for (const name of scriptNames(words, scripts)) {
      const text = own(scripts, name);
      if (typeof text !== 'string' || followed.has(name)) continue;
      followed.add(name);
      unknown ??= rawCommandsIn(text).some(isUnknown) ? text : null;
      for (const command of commandsIn(text)) {
        found.push(command);
        for (const path of scriptsIn(command, isFile)) files.add(placed(folder, path));
        follow(command);
      }
    }
  }

  for (const words of commands) follow(words);
  // A config of `package.json` itself stands under the name of its runner.
  for (const name of OWN_CONFIGS) {
    const config = own(manifest, name);
    if (isJsonObject(config))
      for (const path of namedIn(JSON.stringify(config), folder, tree)) files.add(path);
  }
  for (const config of configs) loadsOf(config, { tree, files });
  return { files: [...files], commands: found, unknown };
}

const OWN_CONFIGS = [
  'jest',
  'mocha',
  'ava',
  'vitest',
  'tap',
  'c8',
  'nyc',
  'babel',
  'eslintConfig',
  'prettier',
];

const MANAGERS = new Set(['npm', 'pnpm', 'yarn', 'bun']);
const SHORT: ReadonlyMap<string, string> = new Map([
  ['t', 'test'],
  ['tst', 'test'],
]);

/** The scripts of `package.json` that a command runs, with those that npm runs before and after them. */
function scriptNames(words: readonly string[], scripts: Json): readonly string[] {
  const at = words.findIndex((word) => MANAGERS.has(word.slice(word.lastIndexOf('/') + 1)));
  const run = words.indexOf('--run');
  const rest = at === -1 ? [] : words.slice(at + 1).filter((word) => !word.startsWith('-'));
  const [first = '', second = ''] = rest;
  const asked = /^(?:run|run-script|rum|urn)$/.test(first) ? second : (SHORT.get(first) ?? first);
  const named = run !== -1 && at === -1 ? (words[run + 1] ?? '') : asked;
  if (typeof own(scripts, named) !== 'string') return [];
  return [`pre${named}`, named, `post${named}`];
}

/** Commands as they are written, with what the shell would put in the place of something. */
function rawCommandsIn(text: string): readonly (readonly string[])[] {
  const words = (piece: string) => piece.split(/\s+/).filter((word) => word !== '' && !/^\w+=/.test(word));
  return text.split(/[;&|\n]+/).map(words);
}

/** Whether what is run, and not only what it is given, is made of pieces that are known when it runs. */
function isUnknown([program = '', ...words]: readonly string[]): boolean {
  if (program === 'eval' || program === 'xargs') return true;
  if (/[$`]/.test(program)) return true;
  return words.some((word, place) => /[$`]/.test(word) && LOADING_BEFORE.test(words[place - 1] ?? program));
}

/** What stands before a file that is run or loaded. */
const LOADING_BEFORE =
  /^(?:node|python3?|sh|bash|tsx|ts-node|deno|bun|source|\.|-r|-c|--(?:config|import|require|loader|setup\w*|reporters?))$/;

/** What a config loads: what it imports, in turn, and the files under keys that runners load from. */
function loadsOf(
  config: string,
  { tree, files }: { readonly tree: TreeFiles; readonly files: Set<string> },
): void {
  const open = [config];
  const seen = new Set(open);
  for (let path = open.pop(); path !== undefined && seen.size <= MOST_FOLLOWED; path = open.pop()) {
    const text = tree.read(path) ?? '';
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    const imported = [...text.matchAll(IMPORTED)].flatMap(
      ([, name = '']) => resolved(name, folder, tree) ?? [],
    );
    for (const file of imported) {
      if (seen.has(file)) continue;
      seen.add(file);
      files.add(file);
      // It runs where the config runs, and not where tests run.
      open.push(file);
    }
    for (const file of namedIn(text, folder, tree)) files.add(file);
  }
}

const MOST_FOLLOWED = 200;
const IMPORTED =
  /(?:\bfrom|\bimport|\brequire|\bimport\s*\(|\brequire\s*\()\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g;

/** Keys under which configs of runners name what is loaded. */
const KEYS =
  /(?:^|[\s{,"'])(?:setupFiles(?:AfterEnv)?|setup|globalSetup|globalTeardown|preset|presets|extends|plugins?|transform|reporters?|testEnvironment|environment|runner|testRunner|resolver|testSequencer|snapshotSerializers|snapshotEnvironment|testResultsProcessor|require|import|file|customProviderModule|nodeArguments|addopts|pytest_plugins|node-options|script-shell)["']?\s*[:=]\s*/gm;

/** The files of the tree that stand under such a key. */
function namedIn(text: string, folder: string, tree: TreeFiles): readonly string[] {
  const found: string[] = [];
  let asked = 0;
  for (const { index, 0: key } of text.matchAll(KEYS)) {
    // Nothing else goes on meanwhile, and an agent may have written it.
    if (asked++ > MOST_KEYS) break;
    const value = valueAt(text, index + key.length);
    for (const [name] of value.matchAll(/[^\s'"`,[\]{}()=:]+/g))
      found.push(...(resolved(name, folder, tree) ?? []));
  }
  return found;
}

/** What follows a key: up to the end of its brackets, or of its line and of the list below it. */
function valueAt(text: string, from: number): string {
  const rest = text.slice(from, from + LONGEST_VALUE);
  if (rest[0] !== '[' && rest[0] !== '{') return /^[^\n]*(?:\n\s*-[^\n]*)*/.exec(rest)?.[0] ?? '';
  let depth = 0;
  for (const [at, char] of [...rest].entries()) {
    if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') depth -= 1;
    if (depth === 0) return rest.slice(0, at + 1);
  }
  return rest;
}

const LONGEST_VALUE = 4_000;
const MOST_KEYS = 200;
const ENDINGS = [
  '',
  '.ts',
  '.mts',
  '.cts',
  '.tsx',
  '.js',
  '.mjs',
  '.cjs',
  '.jsx',
  '.json',
  '/index.ts',
  '/index.js',
];

/** The file of the tree that a name stands for, or none where it is that of a package. */
function resolved(name: string, folder: string, { paths }: TreeFiles): readonly string[] | null {
  const plain = name.replace(/^<rootDir>\//, './');
  const parts = [...(folder === '' ? [] : folder.split('/'))];
  for (const part of plain.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  const path = parts.join('/');
  // A module of Python, as its plugins are named.
  const module = path.includes('/') ? null : path.replaceAll('.', '/');
  const python = module === null ? [] : [`${module}.py`, `${module}/__init__.py`];
  const found = [...ENDINGS.map((ending) => `${path}${ending}`), ...python].find((one) => paths.has(one));
  return found === undefined ? null : [found];
}

function placed(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`;
}

function jsonIn(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

import { hash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { isJsonObject, type Json } from '@phasegate/core';
import { readRegular } from './files/readRegular.ts';

/** The words that a program is started with. */
export interface StartedWith {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The files of the project that a program is started with, by their SHA-256: a script that lies in the project is what
 * is started, as much as the line that names it. A word that does not name a file is looked for as interpreters do, with an ending
 * or in a folder. Which of them an interpreter takes is its own affair, so all of them count; one that comes later is in
 * the map then, and was not when the map was accepted.
 */
export function namedFiles(
  root: string,
  { command, env = {} }: StartedWith,
): Readonly<Record<string, string>> {
  const project = realpathSync(root);
  const said = [...command, ...Object.values(env)].flatMap(wordsIn);
  const folders = foldersNamed(project, said);
  // `npx` and its like look here first.
  const installed = join(project, 'node_modules', '.bin');
  const paths = [installed, ...(env.PATH ?? '').split(':').map((folder) => resolve(project, folder))];
  const placesIn = (word: string) =>
    wordsIn(word).flatMap((part) =>
      [...folders, ...(part.includes('/') ? [] : paths)].flatMap((base) => filesFor(resolve(base, part), 0)),
    );
  const loaded = Object.entries(env).flatMap(([name, value]) =>
    placesIn(value).filter((place) => LOADS_CODE.test(name) || IS_CODE.test(place)),
  );
  const manifests = command.flatMap(manifestsOf).flatMap((name) => folders.map((base) => join(base, name)));
  const found = [...command.flatMap(placesIn), ...manifests.filter(isFile), ...loaded].flatMap(
    (place): readonly (readonly [string, string])[] => {
      const path = pathIn(project, place);
      return path === null ? [] : [[path, hash('sha256', readRegular(place, READING), 'hex')]];
    },
  );
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Programs may be large, and links lead to them. */
const READING = { most: 1024 ** 3, links: 'follow' } as const;

// Most of an environment names data, which changes every day: a log, a database.
const LOADS_CODE = /OPT$|OPTIONS|OPTS|PRELOAD|ENV$|STARTUP|INSERT_LIBRARIES|LOADER/i;
const IS_CODE = /\.(?:[cm]?[jt]sx?|node|wasm|so|dylib|py|rb|sh|pl|go)$/i;

/** A word may be a whole command line for a shell, a list of paths, or have its path behind an option. */
function wordsIn(word: string): readonly string[] {
  const parts = word.split(/[\s"'`;&|()<>=,]+/).flatMap((part) => [part, ...part.split(':')]);
  const paths = [word, ...parts].flatMap((part) => [part, part.replace(/^-[A-Za-z](?=[./])/, '')]);
  const plain = paths.map((path) => path.replace(/^file:\/\//, '').replace(/^\$(?:PWD|\{PWD\})\//, './'));
  // `python -m a.b` starts `a/b.py`.
  const modules = plain
    .filter((path) => /^\w+(?:\.\w+)+$/.test(path))
    .map((path) => path.replaceAll('.', '/'));
  return [...new Set([...plain, ...modules])].filter((path) => path !== '');
}

/** What a program that is told a folder, or to go there first, may take its files from: the project, and these. */
function foldersNamed(project: string, words: readonly string[]): readonly string[] {
  let found: readonly string[] = [project];
  for (let depth = 0; depth < DEEPEST; depth++) {
    const further = found.flatMap((base) => words.map((word) => resolve(base, word)));
    const inside = further.filter((place) => place.startsWith(`${project}${sep}`) && isFolder(place));
    found = [...new Set([...found, ...inside])].slice(0, MOST_FOLDERS);
  }
  return found;
}

/** `cd a && cd b` and `-C a` with a list of words name a few; more are not a way to start a program. */
const MOST_FOLDERS = 50;

/** Programs that start what stands in a file they find by themselves. */
const MANIFESTS: Readonly<Record<string, readonly string[]>> = {
  // An `.npmrc` names the shell that scripts are run by, and options for every Node that is started.
  npm: ['package.json', '.npmrc'],
  npx: ['package.json', '.npmrc'],
  pnpm: ['package.json', '.npmrc', 'pnpm-workspace.yaml', '.pnpmfile.cjs', '.pnpmfile.mjs'],
  pnpx: ['package.json', '.npmrc', 'pnpm-workspace.yaml', '.pnpmfile.cjs', '.pnpmfile.mjs'],
  // `yarnPath` is another program that does yarn's work.
  yarn: ['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnp.cjs', '.pnp.loader.mjs'],
  bun: ['package.json', '.npmrc', 'bunfig.toml'],
  bunx: ['package.json', '.npmrc', 'bunfig.toml'],
  tsx: ['tsconfig.json'],
  'ts-node': ['tsconfig.json'],
  deno: ['deno.json', 'deno.jsonc', 'package.json', '.npmrc'],
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'taskfile.yaml'],
  rake: ['Rakefile', 'rakefile', 'Rakefile.rb', 'rakefile.rb'],
  bundle: ['Gemfile', '.bundle/config'],
  uv: ['pyproject.toml', 'uv.toml', '.python-version'],
  uvx: ['pyproject.toml', 'uv.toml', '.python-version'],
  poetry: ['pyproject.toml', 'poetry.toml'],
  pipenv: ['Pipfile', '.env'],
  // `runner` and `alias` name programs.
  cargo: ['Cargo.toml', 'build.rs', '.cargo/config.toml', '.cargo/config'],
  docker: ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml', 'Dockerfile'],
};

function manifestsOf(word: string): readonly string[] {
  return wordsIn(word).flatMap((part) =>
    Object.hasOwn(MANIFESTS, basename(part)) ? (MANIFESTS[basename(part)] ?? []) : [],
  );
}

/** Endings that interpreters add by themselves. */
const ENDINGS = [
  '.js',
  '.mjs',
  '.cjs',
  '.ts',
  '.mts',
  '.cts',
  '.json',
  '.node',
  '.py',
  '.rb',
  '.sh',
  '.pl',
  '.go',
];
const STARTS = ['index', '__main__', 'main'];
/** A `main` that leads to another folder with a `main` of its own, and so on. */
const DEEPEST = 3;

function filesFor(place: string, depth: number): readonly string[] {
  if (isFile(place)) return [place];
  // Some read `x.js` and start `x.ts`.
  const bare = place.replace(/\.[cm]?js$/, '');
  const beside = [...new Set([place, bare])].flatMap((base) => ENDINGS.map((ending) => `${base}${ending}`));
  const starts = STARTS.flatMap((start) => ENDINGS.map((ending) => `${start}${ending}`));
  const within = ['package.json', ...starts].map((name) => join(place, name));
  const main = depth < DEEPEST ? mainOf(place) : null;
  const led = main === null ? [] : filesFor(resolve(place, main), depth + 1);
  return [...new Set([...[...beside, ...within].filter(isFile), ...led])];
}

function mainOf(folder: string): string | null {
  const file = join(folder, 'package.json');
  if (!isFile(file)) return null;
  try {
    const read = JSON.parse(readRegular(file, READING).toString('utf8')) as Json;
    return isJsonObject(read) && typeof read.main === 'string' ? read.main : null;
  } catch {
    // What cannot be read as JSON leads nobody anywhere; in the project its bytes count all the same.
    return null;
  }
}

/** The path of a file in the project, as it is named or as links lead to it; null for one elsewhere. */
function pathIn(project: string, place: string): string | null {
  const real = join(realpathSync(dirname(place)), basename(place));
  const inside = [place, real, realpathSync(place)].find((one) => one.startsWith(`${project}${sep}`));
  return inside === undefined ? null : inside.slice(project.length + 1);
}

function isFile(place: string): boolean {
  return kindAt(place) === 'file';
}

function isFolder(place: string): boolean {
  return kindAt(place) === 'folder';
}

function kindAt(place: string): 'file' | 'folder' | null {
  try {
    const there = statSync(place, { throwIfNoEntry: false });
    if (there?.isFile() === true) return 'file';
    return there?.isDirectory() === true ? 'folder' : null;
  } catch {
    // A word that cannot be a path, for its length or what is in it, does not name anything.
    return null;
  }
}

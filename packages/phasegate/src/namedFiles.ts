import { hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { isJsonObject, type Json } from '@phasegate/core';

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
  const placesIn = (word: string) => wordsIn(word).flatMap((part) => filesFor(resolve(project, part), 0));
  const loaded = Object.entries(env).flatMap(([name, value]) =>
    placesIn(value).filter((place) => LOADS_CODE.test(name) || IS_CODE.test(place)),
  );
  const found = [...command.flatMap(placesIn), ...loaded].flatMap(
    (place): readonly (readonly [string, string])[] => {
      const path = pathIn(project, place);
      return path === null ? [] : [[path, hash('sha256', readFileSync(place), 'hex')]];
    },
  );
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

// Most of an environment names data, which changes every day: a log, a database.
const LOADS_CODE = /OPT$|OPTIONS|OPTS|PRELOAD|ENV$|STARTUP|INSERT_LIBRARIES|LOADER/i;
const IS_CODE = /\.(?:[cm]?[jt]sx?|node|wasm|so|dylib|py|rb|sh|pl)$/i;

/** A word may be a whole command line for a shell, or have its path behind an option. */
function wordsIn(word: string): readonly string[] {
  const parts = word.split(/[\s"'`;&|()<>=,]+/).filter((part) => part !== '');
  const paths = [word, ...parts].flatMap((part) => [part, part.replace(/^-[A-Za-z](?=[./])/, '')]);
  return [...new Set(paths)].map((path) => path.replace(/^file:\/\//, ''));
}

/** Endings that interpreters add by themselves. */
const ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json', '.node', '.py', '.rb', '.sh', '.pl'];
const STARTS = ['index', '__main__'];
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
    const read = JSON.parse(readFileSync(file, 'utf8')) as Json;
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
  try {
    return statSync(place, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // A word that cannot be a path, for its length or what is in it, does not name a file.
    return false;
  }
}

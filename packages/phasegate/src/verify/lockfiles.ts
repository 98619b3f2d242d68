import { hash } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject, type Json, own } from '@phasegate/core';
import type { DependencyKind } from '@phasegate/core/ports';
import { readRegularIfAny } from '../files/readRegular.ts';

/** A lockfile that was found in a folder. */
export interface Lockfile {
  readonly kind: DependencyKind;
  /** Its path, relative to the folder it was looked for in. */
  readonly path: string;
  /** SHA-256 of its bytes. */
  readonly hash: string;
  readonly text: string;
}

/** What each program that installs dependencies writes down, the first that is there counts. */
const NAMES: Readonly<Record<DependencyKind, readonly string[]>> = {
  npm: ['npm-shrinkwrap.json', 'package-lock.json'],
  pnpm: ['pnpm-lock.yaml'],
  uv: ['uv.lock'],
  pip: ['requirements.txt'],
  go: ['go.sum'],
  cargo: ['Cargo.lock'],
};

/** Every kind of dependencies, in the order they are looked for. */
export const KINDS = Object.keys(NAMES) as readonly DependencyKind[];

const LARGEST = 64 * 1024 * 1024;

/** The lockfiles of a folder inside a tree, or else of the tree itself. */
export function lockfilesIn(tree: string, folder = ''): readonly Lockfile[] {
  const found = KINDS.flatMap((kind) => lockfileOf(tree, { kind, folder }) ?? []);
  if (found.length > 0 || folder === '') return found;
  return lockfilesIn(tree);
}

/** The lockfile of one kind in a folder; null where there is none that can be read. */
export function lockfileOf(
  tree: string,
  { kind, folder = '' }: { readonly kind: DependencyKind; readonly folder?: string },
): Lockfile | null {
  for (const name of NAMES[kind]) {
    const path = folder === '' ? name : `${folder}/${name}`;
    const bytes = readRegularIfAny(join(tree, path), { most: LARGEST, links: 'refuse' });
    if (bytes !== null)
      return { kind, path, hash: hash('sha256', bytes, 'hex'), text: bytes.toString('utf8') };
  }
  return null;
}

/** The first line of a lockfile by which something would be built, and so run, that nobody allowed; null: none. */
export function buildIn({ kind, text }: Pick<Lockfile, 'kind' | 'text'>): string | null {
  return kind === 'pip' ? (pipLines(text).find(isBuilding)?.trim() ?? null) : null;
}

/** Hosts whose packages pip would take without asking who sends them. */
export function unverifiedIn({ kind, text }: Pick<Lockfile, 'kind' | 'text'>): readonly string[] {
  const lines = kind === 'pip' ? pipLines(text) : [];
  return lines.flatMap((line) =>
    [...line.matchAll(/--trusted-host[\s=]+(\S+)/g)].map(([, host = '']) => host),
  );
}

function pipLines(text: string): readonly string[] {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/);
  return lines.map((line) => line.replace(/(?:^|\s)#.*$/, ''));
}

/** INVARIANT: options are known by their whole names. pip takes their beginnings too, and one that is not listed may undo ours. */
function isBuilding(line: string): boolean {
  const words = line.split(/\s+/).filter((word) => word !== '');
  if (words.some((word) => word.startsWith('-') && !HARMLESS.has(word.replace(/=.*$/, '')))) return true;
  if (/(?:^|[\s@])(?:(?:git|hg|svn|bzr)\+|file:|\.{0,2}\/)/.test(line)) return true;
  // What is behind an address is known by its name alone, and only a wheel is never built.
  if (words[0]?.startsWith('-') === true) return false;
  return words.some((word) => /https?:/.test(word) && !/\.whl(?:#\S*)?$/.test(word));
}

/** Where packages are looked for and which of them; nothing of it says how they are installed. */
const HARMLESS = new Set([
  '-i',
  '--index-url',
  '--extra-index-url',
  '--no-index',
  '--require-hashes',
  '--hash',
  '--pre',
  '--prefer-binary',
  '--trusted-host',
]);

/** Whether a lockfile names nothing to install. */
export function isEmpty({ kind, text }: Pick<Lockfile, 'kind' | 'text'>): boolean {
  switch (kind) {
    case 'npm':
      return npmPackages(text).every(([path]) => !path.includes('node_modules/'));
    case 'pnpm':
      return !/^packages:/m.test(text);
    case 'cargo':
      return !/^source = /m.test(text);
    case 'uv':
      return !/^source = \{ registry/m.test(text);
    case 'go':
      return text.trim() === '';
    case 'pip':
      return text.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line));
  }
}

/** What an npm lockfile has, by its path below the project; empty where it cannot be read. */
export function npmPackages(text: string): readonly (readonly [string, Json])[] {
  try {
    const packages = own(JSON.parse(text) as Json, 'packages');
    return isJsonObject(packages) ? Object.entries(packages) : [];
  } catch {
    return [];
  }
}

/** The hosts that a lockfile takes packages from; not those of their home pages. */
export function hostsIn({ kind, text }: Pick<Lockfile, 'kind' | 'text'>): readonly string[] {
  const places = kind === 'npm' ? npmPackages(text).map(([, one]) => own(one, 'resolved')) : [text];
  const found = places.join('\n').matchAll(/https:\/\/([a-z0-9.-]+)(?::\d+)?\//gi);
  return [...new Set([...found].map(([, host]) => (host as string).toLowerCase()))].sort();
}

import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Json, own, PhasegateError } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { DependencySet } from '@phasegate/core/ports';
import { PathRefused } from '../workspace/pathRefused.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { type Lockfile, npmPackages } from './lockfiles.ts';

/** Packages that a lockfile takes from files, by the names that it has for them, each pair once. */
export function localPackages(lockfile: Lockfile): DependencySet['local'] {
  const pairs = localTarballs(lockfile).map(
    ({ name, file }) => [JSON.stringify([name, file]), { name, file }] as const,
  );
  return [...new Map(pairs).values()];
}

/** From where to where packages are copied that a lockfile takes from files of the project. */
export interface TarballCopy {
  /** The project, by its real path. */
  readonly root: string;
  /** The lockfile's folder in it, or the empty text. */
  readonly folder: string;
  readonly tree: string;
}

/**
 * Copies each local tarball that a lockfile of npm or pnpm names, and gives their paths. INVARIANT: what is copied are the
 * very bytes whose hash the lockfile has, and a package by its name: an agent can write the file, and a `.npmrc` in its
 * place would say how packages are installed.
 */
export async function copyLocalTarballs(
  lockfile: Lockfile,
  { root, folder, tree }: TarballCopy,
): Promise<readonly string[]> {
  const copied: string[] = [];
  for (const { file, hashes } of localTarballs(lockfile)) {
    const place = relativePath(file);
    if (place === null || !/\.(?:tgz|tar\.gz|tar)$/i.test(place) || place.split('/').includes('node_modules'))
      throw notCopied(lockfile, file, 'it is not a tarball in the folder of the lockfile');
    if (hashes.length === 0) throw notCopied(lockfile, file, 'the lockfile has no sha512 of it');
    const from = folder === '' ? place : `${folder}/${place}`;
    const { content } = await readBeneath(root, from, LARGEST_TARBALL).catch((error: unknown) => {
      throw error instanceof PathRefused ? notCopied(lockfile, file, error.message) : error;
    });
    if (!hashes.includes(hash('sha512', content, 'base64')))
      throw notCopied(lockfile, file, 'its sha512 is not the one that the lockfile has');
    mkdirSync(dirname(join(tree, place)), { recursive: true });
    writeFileSync(join(tree, place), content);
    copied.push(place);
  }
  return copied;
}

/** Larger than any package, and small enough to be held at once. */
const LARGEST_TARBALL = 256 * 1024 * 1024;

function notCopied({ kind, path }: Lockfile, file: string, reason: string): PhasegateError {
  const again = `${kind} ${kind === 'npm' ? 'install' : 'add'} ${shellWord(`./${basename(file)}`)}`;
  return new PhasegateError(
    'deps_not_frozen',
    `\`${path}\` takes a package from the file \`${oneLine(file)}\`, which is not copied: ${reason}`,
    {
      hint: `put the file that you mean beside \`${path}\` and install it from there with \`${again}\`, then \`phasegate deps freeze\``,
    },
  );
}

interface LocalTarball {
  /** What the package is called in the lockfile. */
  readonly name: string;
  /** Relative to the lockfile, and written in one way where it is below it. */
  readonly file: string;
  /** Each SHA-512 that it may have. */
  readonly hashes: readonly string[];
}

function localTarballs({ kind, text }: Lockfile): readonly LocalTarball[] {
  return resolvedIn(kind, text).flatMap(({ name, resolved, integrity }) => {
    if (!resolved.startsWith('file:')) return [];
    const hashes = integrity.split(/\s+/).flatMap((word) => /^sha512-([^?]+)/.exec(word)?.[1] ?? []);
    const file = decoded(resolved.slice('file:'.length));
    return [{ name, file: relativePath(file) ?? file, hashes }];
  });
}

interface Resolved {
  readonly name: string;
  readonly resolved: string;
  readonly integrity: string;
}

/** Where packages are taken from, and by which hashes. */
function resolvedIn(kind: Lockfile['kind'], text: string): readonly Resolved[] {
  if (kind === 'npm')
    return npmPackages(text).map(([path, one]) => ({
      // As it is imported: what the entry calls itself may be another's name.
      name: path.split('node_modules/').at(-1) ?? path,
      resolved: textOf(one, 'resolved'),
      integrity: textOf(one, 'integrity'),
    }));
  if (kind !== 'pnpm') return [];
  let name = '';
  return text.split('\n').flatMap((line) => {
    name = /^ {2}(?:'([^']+)'|(\S.*)):\s*$/.exec(line)?.slice(1).join('') ?? name;
    const inside = /^\s+resolution: \{(.*)\}\s*$/.exec(line)?.[1];
    if (inside === undefined) return [];
    return { name: bare(name), resolved: inFlow(inside, 'tarball'), integrity: inFlow(inside, 'integrity') };
  });
}

/** The key of a package without the version, which says the file once more. */
function bare(key: string): string {
  return key.replace(/(?<=.)@file:.*$/, '');
}

function textOf(one: Json, key: string): string {
  const found = own(one, key);
  return typeof found === 'string' ? found : '';
}

/** A value as pnpm writes it between braces. */
function inFlow(inside: string, key: string): string {
  const found = new RegExp(`(?:^|, )${key}: (?:'([^']*)'|([^,]*))`).exec(inside);
  return found?.[1] ?? found?.[2] ?? '';
}

/** npm writes some characters by their numbers. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Json, own, PhasegateError } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import { PathRefused } from '../workspace/pathRefused.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { type Lockfile, npmPackages } from './lockfiles.ts';

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
  /** Relative to the lockfile. */
  readonly file: string;
  /** Each SHA-512 that it may have. */
  readonly hashes: readonly string[];
}

function localTarballs({ kind, text }: Lockfile): readonly LocalTarball[] {
  return resolvedIn(kind, text).flatMap(([resolved, integrity]) => {
    if (!resolved.startsWith('file:')) return [];
    const hashes = integrity.split(/\s+/).flatMap((word) => /^sha512-([^?]+)/.exec(word)?.[1] ?? []);
    return [{ file: decoded(resolved.slice('file:'.length)), hashes }];
  });
}

/** Where packages are taken from, and by which hashes. */
function resolvedIn(kind: Lockfile['kind'], text: string): readonly (readonly [string, string])[] {
  if (kind === 'npm')
    return npmPackages(text).map(([, one]) => [textOf(one, 'resolved'), textOf(one, 'integrity')]);
  if (kind !== 'pnpm') return [];
  return [...text.matchAll(/^\s+resolution: \{(.*)\}\s*$/gm)].map(([, inside = '']) => [
    inFlow(inside, 'tarball'),
    inFlow(inside, 'integrity'),
  ]);
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

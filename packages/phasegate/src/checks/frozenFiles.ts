import { hash } from 'node:crypto';
import { readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frozen } from '@phasegate/core/engine';
import type { CheckInput } from '../runtime/ports.ts';
import { FileFinder, type Match } from '../workspace/findFiles.ts';
import { readBeneath } from '../workspace/readBeneath.ts';

/** The files that globs match, as they are now. Throws where one of them cannot be read. */
export async function freezeFiles(
  globs: readonly string[],
  { workspace, signal }: Pick<CheckInput, 'workspace' | 'signal'>,
): Promise<Frozen> {
  const root = await realpath(workspace);
  const finder = new FileFinder(root, signal as AbortSignal);
  const files: Record<string, string> = {};
  for (const glob of globs) {
    for (const { path, kind } of await finder.find(glob)) {
      if (kind === 'folder') continue;
      files[path] = kind === 'link' ? await beyond(root, path, finder) : await standing(root, { path, kind });
    }
  }
  const sorted = Object.keys(files).sort();
  const digest = hash('sha256', sorted.map((path) => `${path}\0${files[path]}\0`).join(''), 'hex');
  return { globs, digest, ...(sorted.length <= MOST_KEPT ? { files } : {}) };
}

/** What is not as it was frozen, in words; null where all of it is. */
export function differenceFrom(before: Frozen, now: Frozen): string | null {
  if (before.digest === now.digest) return null;
  if (before.files === undefined || now.files === undefined) return 'files differ';
  const [was, is] = [before.files, now.files];
  const removed = Object.keys(was).filter((path) => !Object.hasOwn(is, path));
  const changed = Object.keys(was).filter((path) => Object.hasOwn(is, path) && is[path] !== was[path]);
  const added = Object.keys(is).filter((path) => !Object.hasOwn(was, path));
  const told = [
    ...removed.map((path) => `\`${path}\` is gone`),
    ...changed.map((path) => `\`${path}\` was changed`),
    ...added.map((path) => `\`${path}\` is new`),
  ];
  const more = told.length > MOST_TOLD ? ` and ${told.length - MOST_TOLD} more` : '';
  return `${told.slice(0, MOST_TOLD).join(', ')}${more}`;
}

async function standing(root: string, { path, kind }: Match): Promise<string> {
  return kind === 'file' ? hash('sha256', await contentOf(root, path), 'hex') : kind;
}

/**
 * What a link stands for: where it leads, and what is there in the tree. A test behind a link is what it leads to, which
 * no glob has to name.
 */
async function beyond(root: string, path: string, finder: FileFinder): Promise<string> {
  const target = await readlink(join(root, path));
  const real = await realpath(join(root, path)).catch(() => null);
  const there = real?.startsWith(`${root}/`) === true ? real.slice(root.length + 1) : null;
  const found = there === null ? [] : [...(await finder.find(there)), ...(await finder.find(`${there}/**`))];
  const held: string[] = [];
  for (const match of found)
    if (match.kind !== 'folder') held.push(`${match.path}\0${await standing(root, match)}`);
  return hash('sha256', [`link to ${target}`, ...held.sort()].join('\0'), 'hex');
}

async function contentOf(root: string, path: string): Promise<Buffer> {
  return (await readBeneath(root, path, LARGEST)).content;
}

const MOST_KEPT = 200;
const MOST_TOLD = 5;
const LARGEST = 16 * 1024 * 1024;

import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import type { Frozen } from '@phasegate/core/engine';
import type { CheckInput } from '../runtime/ports.ts';
import { FileFinder } from '../workspace/findFiles.ts';
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
      files[path] = kind === 'file' ? hash('sha256', await contentOf(root, path), 'hex') : kind;
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

async function contentOf(root: string, path: string): Promise<Buffer> {
  return (await readBeneath(root, path, LARGEST)).content;
}

const MOST_KEPT = 200;
const MOST_TOLD = 5;
const LARGEST = 16 * 1024 * 1024;

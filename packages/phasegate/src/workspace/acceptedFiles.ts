import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { oneLine } from '@phasegate/core/model';
import { LARGEST } from './guardedEntry.ts';
import { PathRefused } from './pathRefused.ts';
import { readBeneath } from './readBeneath.ts';

/** A file of the project as it is now. */
export type FileNow =
  | { readonly kind: 'file'; readonly sha256: string; readonly content: Uint8Array }
  | { readonly kind: 'missing' }
  /** No file, too large, swapped while it was opened, or outside of the project. */
  | { readonly kind: 'unreadable'; readonly reason: string };

const MOST_KEPT = 5_000;

/**
 * Files of workflows, and copies of what humans accepted, by their SHA-256. A copy proves nothing by itself: the hash
 * that a human signed does, and a copy with another is none.
 */
export function createAcceptedFiles({
  root,
  keptIn,
}: {
  readonly root: string;
  readonly keptIn: () => string;
}) {
  async function now(path: string): Promise<FileNow> {
    try {
      // As the loaders find it: by a link too, as long as that stays in the project.
      const base = await realpath(root);
      const place = relative(base, await realpath(resolve(base, path)));
      // No definition, no migration and no guarded file whose content counts is larger.
      const { content } = await readBeneath(base, place.split(sep).join('/'), LARGEST);
      return { kind: 'file', sha256: hash('sha256', content), content };
    } catch (error) {
      if (error instanceof PathRefused) {
        return error.code === 'path_not_found'
          ? { kind: 'missing' }
          : { kind: 'unreadable', reason: error.message };
      }
      if (!(error instanceof Error && 'code' in error)) throw error;
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { kind: 'missing' };
      return { kind: 'unreadable', reason: `\`${oneLine(path)}\` cannot be read: ${error.code}` };
    }
  }

  return {
    now,
    async kept(sha256: string): Promise<Uint8Array | null> {
      const content = await readFile(join(keptIn(), sha256)).catch(() => null);
      return content !== null && hash('sha256', content) === sha256 ? content : null;
    },
    /** Keeps the files that are as they were accepted; what cannot be kept is only not shown later. */
    async keep(files: Readonly<Record<string, string>>): Promise<void> {
      const folder = keptIn();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const [path, sha256] of Object.entries(files)) {
        if (isOfPackage(path) || existsSync(join(folder, sha256))) continue;
        const found = await now(path);
        if (found.kind !== 'file' || found.sha256 !== sha256) continue;
        const draft = join(folder, `${sha256}.draft`);
        await writeFile(draft, found.content, { mode: 0o600 });
        await rename(draft, join(folder, sha256));
      }
      await dropOldest(folder);
    },
  };
}

/** Packages are read by nobody line by line, and are many files. */
function isOfPackage(path: string): boolean {
  return path.split('/').includes('node_modules');
}

async function dropOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= MOST_KEPT) return;
  const aged = await Promise.all(
    names.map(async (name) => ({ name, age: (await stat(join(folder, name))).mtimeMs })),
  );
  aged.sort((one, other) => one.age - other.age);
  for (const { name } of aged.slice(0, names.length - MOST_KEPT))
    await rm(join(folder, name), { force: true });
}

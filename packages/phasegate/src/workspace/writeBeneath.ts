import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import { lstatIfThere } from './openBeneath.ts';
import { type OpenFolder, openFolderBeneath } from './openFolderBeneath.ts';
import { PathRefused } from './pathRefused.ts';
import { readBeneath } from './readBeneath.ts';
import { relativePath } from './relativePath.ts';

/** A file to write below a real root. */
export interface Writing {
  /** Real path of the root. */
  readonly root: string;
  readonly path: string;
  readonly content: Buffer;
  /** `create` refuses what is there already, `replace` does not mind, `append` adds at the end. */
  readonly how: 'create' | 'replace' | 'append';
  /** Of a file that was not there; the usual where left out. */
  readonly mode?: number;
  /** Asked with the normal path when its folder is held open, right before anything is written. */
  readonly mayWrite: (path: string) => boolean;
}

/** What was written. */
export interface Written {
  readonly path: string;
  /** Size of the file now. */
  readonly bytes: number;
  readonly created: boolean;
}

/** The largest file that is written, and the largest that is added to. */
export const MAX_WRITTEN_BYTES = 10 * 1024 * 1024;

/**
 * Writes a file below a real root, following no link in any component. The content goes to a new file in the same
 * folder, is made durable and then renamed, so a reader sees the old file or the new one; another name of the same
 * file (a hard link, perhaps from outside) keeps the old content and is not written through.
 */
export async function writeBeneath(writing: Writing): Promise<Written> {
  const { path, folder, name } = split(writing.path);
  const before = writing.how === 'append' ? await existing(writing.root, path) : Buffer.alloc(0);
  const content = before.length === 0 ? writing.content : Buffer.concat([before, writing.content]);
  if (content.length > MAX_WRITTEN_BYTES) {
    throw new PathRefused('too_large', `\`${path}\` would be larger than ${MAX_WRITTEN_BYTES} bytes`);
  }
  // Asked before folders are made for it, and again when the folder is held.
  demandScope(writing, path);
  const held = await openFolderBeneath(writing.root, folder, { make: true });
  try {
    const old = await fileAt(held, name, path);
    if (old !== null && writing.how === 'create') throw exists(path);
    demandScope(writing, path);
    await put(held, { name, path, content, old, how: writing.how, mode: writing.mode ?? 0o666 });
    return { path, bytes: content.length, created: old === null };
  } finally {
    await held.close();
  }
}

/** Removes a file below a real root, following no link; a link itself is refused, and so is a folder. */
export async function deleteBeneath({
  root,
  path: given,
  mayWrite,
}: Pick<Writing, 'root' | 'path' | 'mayWrite'>): Promise<string> {
  const { path, folder, name } = split(given);
  demandScope({ mayWrite }, path);
  const held = await openFolderBeneath(root, folder, { make: false });
  try {
    if ((await fileAt(held, name, path)) === null) {
      throw new PathRefused('path_not_found', `there is no file \`${path}\``);
    }
    demandScope({ mayWrite }, path);
    await held.recheck();
    await unlink(held.at(name));
    return path;
  } finally {
    await held.close();
  }
}

function split(given: string): { readonly path: string; readonly folder: string; readonly name: string } {
  const path = relativePath(given);
  if (path === null || path === '') {
    throw new PathRefused('path_outside', `\`${given}\` is not a path inside the workspace`);
  }
  const cut = path.lastIndexOf('/');
  return { path, folder: path.slice(0, Math.max(0, cut)), name: path.slice(cut + 1) };
}

function demandScope({ mayWrite }: Pick<Writing, 'mayWrite'>, path: string): void {
  if (!mayWrite(path))
    throw new PathRefused('outside_write_scope', `\`${path}\` may not be written in this phase`);
}

async function existing(root: string, path: string): Promise<Buffer> {
  try {
    return (await readBeneath(root, path, MAX_WRITTEN_BYTES)).content;
  } catch (error) {
    if (error instanceof PathRefused && error.code === 'path_not_found') return Buffer.alloc(0);
    throw error;
  }
}

async function fileAt(held: OpenFolder, name: string, path: string): Promise<Stats | null> {
  const stats = await lstatIfThere(held.at(name));
  if (stats?.isSymbolicLink())
    throw new PathRefused('path_is_link', `\`${path}\` is a link, which is not followed`);
  if (stats !== null && !stats.isFile())
    throw new PathRefused('path_not_a_file', `\`${path}\` is not a file`);
  return stats;
}

interface Putting {
  readonly name: string;
  readonly path: string;
  readonly content: Buffer;
  readonly old: Stats | null;
  readonly how: Writing['how'];
  readonly mode: number;
}

async function put(held: OpenFolder, { name, path, content, old, how, mode }: Putting): Promise<void> {
  const temporary = `.phasegate-${randomBytes(8).toString('hex')}.tmp`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(held.at(temporary), flags, mode);
  let kept = false;
  try {
    await fill(file, content, old);
    await held.recheck();
    if (how === 'create') await linkNew(held, { temporary, name, path });
    else {
      await rename(held.at(temporary), held.at(name));
      kept = true;
    }
    await held.recheck();
  } finally {
    if (!kept) await unlink(held.at(temporary)).catch(() => undefined);
  }
}

async function fill(file: FileHandle, content: Buffer, old: Stats | null): Promise<void> {
  try {
    await file.writeFile(content);
    // The new file takes the place of the old one with its permissions, never with its special bits.
    if (old !== null) await file.chmod(old.mode & 0o777);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A name that is taken meanwhile stays taken: a link fails where a rename would replace. */
async function linkNew(
  held: OpenFolder,
  { temporary, name, path }: { readonly temporary: string; readonly name: string; readonly path: string },
): Promise<void> {
  try {
    await link(held.at(temporary), held.at(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(path);
    throw error;
  }
}

function exists(path: string): PathRefused {
  return new PathRefused('path_exists', `\`${path}\` is there already`);
}

import { randomBytes } from 'node:crypto';
import { chmod, lstat, rename, rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type GuardedEntry, OVERFULL } from './guardedEntry.ts';
import { lstatIfThere } from './openBeneath.ts';
import { openFolderBeneath } from './openFolderBeneath.ts';
import { writeBeneath } from './writeBeneath.ts';

/** A guarded file to be made what it was. */
export interface PuttingBack {
  /** Real path of the root. */
  readonly root: string;
  readonly path: string;
  /** Null where there was none. */
  readonly before: GuardedEntry | null;
  /** What stands there now. */
  readonly after: GuardedEntry | null;
}

/** Makes a guarded file what it was, through no link; a link that stands in its way is removed. Throws where it cannot. */
export async function putBackGuarded({ root, path, before, after }: PuttingBack): Promise<void> {
  await openFolders(root, path);
  // More than can be looked through: what belongs there is put back one by one after this.
  if (after === OVERFULL) return moveAside(join(root, path));
  if (before === null) return removeAll(root, folderOf(path), [nameOf(path)]);
  await clearWay(root, path);
  if (before.kind === 'link') {
    const held = await openFolderBeneath(root, folderOf(path), { make: true });
    try {
      await rm(held.at(nameOf(path)), { force: true });
      await symlink(before.digest, held.at(nameOf(path)));
    } finally {
      await held.close();
    }
    return;
  }
  if (before.kind === 'other') throw new Error(`what \`${path}\` was cannot be made again`);
  if (before.content === null) throw new Error(`\`${path}\` was too large to be kept`);
  await writeBeneath({ root, path, content: before.content, how: 'replace', mayWrite: () => true });
  await chmod(join(root, path), before.mode);
}

/** Removes what was added to a folder, through no link. Throws where something stays. */
export async function removeAll(root: string, folder: string, names: readonly string[]): Promise<void> {
  await openFolders(root, `${folder}/`);
  const held = await openFolderBeneath(root, folder, { make: false });
  try {
    let fault: unknown;
    for (const name of names)
      await rm(held.at(name), { force: true }).catch((error: unknown) => {
        fault ??= error;
      });
    if (fault !== undefined) throw fault;
  } finally {
    await held.close();
  }
}

/** Nothing can be changed in a folder that is closed to us, and anyone who changed a file can close its folder. */
async function openFolders(root: string, path: string): Promise<void> {
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth += 1) {
    const place = join(root, ...names.slice(0, depth));
    const stats = await lstatIfThere(place);
    if (stats === null || !stats.isDirectory()) return;
    if ((stats.mode & 0o700) !== 0o700) await chmod(place, (stats.mode & 0o7777) | 0o700);
  }
}

/** Whatever stands where a folder or the file itself belongs: a link is removed, anything else is moved aside. */
async function clearWay(root: string, path: string): Promise<void> {
  const names = path.split('/');
  for (let depth = 1; depth <= names.length; depth += 1) {
    const place = join(root, ...names.slice(0, depth));
    const stats = await lstatIfThere(place);
    if (stats === null) return;
    const isLast = depth === names.length;
    if (isLast ? stats.isFile() : stats.isDirectory()) continue;
    if ((await lstat(place)).isSymbolicLink()) await unlink(place);
    else await moveAside(place);
    return;
  }
}

async function moveAside(place: string): Promise<void> {
  await rename(place, `${place}.found-${randomBytes(4).toString('hex')}`);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

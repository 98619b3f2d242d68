import { opendir } from 'node:fs/promises';
import type { Match } from './findFiles.ts';
import { findBeneath } from './openBeneath.ts';
import { openFolderBeneath } from './openFolderBeneath.ts';
import { PathRefused } from './pathRefused.ts';
import { relativePath } from './relativePath.ts';

/** How far a walk goes. */
export interface Walk {
  /** Real path of the root. */
  readonly root: string;
  /** Folder to begin at; `''` is the root. */
  readonly from: string;
  /** Levels of folders; 1 is the folder's own entries. */
  readonly depth: number;
  /** The most entries that are looked at. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Folders that are walked only when one begins inside them. */
const SKIPPED: readonly string[] = ['.git', 'node_modules'];

/**
 * Everything below a folder, by name, folders before what is in them. Links are named and never followed. Gives
 * `false` at its end when there was more than the limit.
 */
export async function* walkBeneath(walk: Walk): AsyncGenerator<Match, boolean> {
  const from = relativePath(walk.from);
  if (from === null)
    throw new PathRefused('path_outside', `\`${walk.from}\` is not a path inside the workspace`);
  const found = await findBeneath(walk.root, from);
  if (found.kind === 'missing') throw new PathRefused('path_not_found', `there is no \`${from}\``);
  if (found.kind === 'link') {
    throw new PathRefused(
      'path_is_link',
      `\`${from}\` leads through the link \`${found.at}\`, which is not followed`,
    );
  }
  if (found.kind !== 'folder') throw new PathRefused('path_not_a_folder', `\`${from}\` is not a folder`);
  const open = [{ folder: from, level: 1 }];
  let left = walk.limit;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { entries, whole } = await entriesOf(walk, next.folder, left);
    left -= entries.length;
    const folders: typeof open = [];
    for (const entry of entries) {
      yield entry;
      const name = entry.path.slice(entry.path.lastIndexOf('/') + 1);
      if (entry.kind === 'folder' && next.level < walk.depth && !SKIPPED.includes(name)) {
        folders.push({ folder: entry.path, level: next.level + 1 });
      }
    }
    if (!whole) return false;
    open.push(...folders.reverse());
  }
  return true;
}

async function entriesOf(
  { root, signal }: Walk,
  folder: string,
  limit: number,
): Promise<{ readonly entries: readonly Match[]; readonly whole: boolean }> {
  const entries: Match[] = [];
  let whole = true;
  // Held while it is read: a folder that becomes a link between two looks would lead us outside.
  const held = await openFolderBeneath(root, folder, { make: false });
  try {
    for await (const entry of await opendir(held.at('.'))) {
      signal.throwIfAborted();
      if (entries.length >= limit) {
        whole = false;
        break;
      }
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      entries.push({ path, kind: kindOf(entry) });
    }
    await held.recheck();
  } finally {
    await held.close();
  }
  return { entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)), whole };
}

function kindOf(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): Match['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { guardOf } from '@phasegate/core';

/** One of the guard's own files: its bytes, or where it leads where it is a link. */
export interface GuardedEntry {
  readonly kind: 'file' | 'link';
  /** SHA-256 of the content, or the target of a link. */
  readonly digest: string;
  /** Null where the file is too large to be kept. */
  readonly content: Buffer | null;
  readonly mode: number;
}

/** What of a folder is walked: places where the guard's files always are, then everything up to a limit. */
const PLACES = [
  'workflows',
  '.phasegate',
  '.praxis-os/workflows',
  '.claude',
  '.cursor',
  '.codex',
  '.gemini',
  '.github/hooks',
  '.opencode',
  '.vscode',
  '.git/hooks',
];
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
const MOST_ENTRIES = 20_000;
const LARGEST = 10 * 1024 * 1024;

/**
 * The guard's own files below a real root, at any depth outside `node_modules`. Of `.git` only the hooks count: the rest
 * is git's to change. Links are not followed: one in the place of a guarded file, or of a folder of them, is itself kept.
 */
export async function readGuardedTree(root: string): Promise<ReadonlyMap<string, GuardedEntry>> {
  const tree = new Map<string, GuardedEntry>();
  const seen = new Set<string>();

  /** Takes a folder's own files and gives the folders in it. */
  async function take(
    folder: string,
  ): Promise<{ readonly folders: readonly string[]; readonly looked: number }> {
    if (seen.has(folder) || (await isLinked(root, folder))) return { folders: [], looked: 0 };
    seen.add(folder);
    const entries = await entriesOf(join(root, folder));
    const pathOf = ({ name }: Dirent) => (folder === '' ? name : `${folder}/${name}`);
    for (const entry of entries) {
      if (entry.isDirectory() || !isCandidate(pathOf(entry), entry)) continue;
      const found = await entryAt(join(root, pathOf(entry)));
      if (found !== null) tree.set(pathOf(entry), found);
    }
    const folders = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
    return { folders: folders.map(pathOf), looked: entries.length };
  }

  async function walk(from: string, most: number): Promise<void> {
    const open = [from];
    let left = most;
    for (let folder = open.shift(); folder !== undefined && left > 0; folder = open.shift()) {
      const { folders, looked } = await take(folder);
      left -= looked;
      open.push(...folders);
    }
  }

  for (const place of PLACES) await walk(place, MOST_ENTRIES);
  await walk('', MOST_ENTRIES);
  return tree;
}

// What the names of guarded files and of their folders have in them. Asking the guard about every file would take
// most of the time of a walk.
const LIKELY = /workflow|contract|config|mcp\.json|opencode|[^\x21-\x7e]|[~:]|\.$/i;
const HIDDEN = /(?:^|\/)\.|^workflows\//i;

function isCandidate(path: string, entry: Dirent): boolean {
  if (!LIKELY.test(entry.name) && !HIDDEN.test(path)) return false;
  if (guardOf(path) !== null) return true;
  // A link in the place of a folder would hide all that is in it.
  return entry.isSymbolicLink() && (guardOf(`${path}/x`) !== null || PLACES.includes(path));
}

/** A folder that is reached through a link is not this project's to keep. */
async function isLinked(root: string, folder: string): Promise<boolean> {
  let place = root;
  for (const name of folder === '' ? [] : folder.split('/')) {
    place = join(place, name);
    const stats = await lstat(place).catch(() => null);
    if (stats === null || !stats.isDirectory()) return true;
  }
  return false;
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // Gone or closed since it was named: then nothing of it is there to be read.
    return [];
  }
}

async function entryAt(place: string): Promise<GuardedEntry | null> {
  try {
    const stats = await lstat(place, { bigint: true });
    const mode = Number(stats.mode) & 0o777;
    if (stats.isSymbolicLink()) return { kind: 'link', digest: await readlink(place), content: null, mode };
    if (!stats.isFile()) return null;
    if (stats.size > LARGEST) {
      const digest = `large:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
      return { kind: 'file', digest, content: null, mode };
    }
    const content = await readFile(place);
    return { kind: 'file', digest: createHash('sha256').update(content).digest('hex'), content, mode };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    // Ours to read before and not now: that is a change, and it is put back.
    return { kind: 'file', digest: `unreadable:${String(code)}`, content: null, mode: 0 };
  }
}

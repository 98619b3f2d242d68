import { guardOf, isInHome } from '@phasegate/core/model';
import { derivedFrom } from './derivedEntries.ts';
import { weightySettings } from './gitConfig.ts';
import { isWeightless } from './homeSettings.ts';
import type { Manifest, TreeEntry } from './manifest.ts';

/** A path that is not as it was. */
export interface PathChange {
  readonly path: string;
  readonly how: 'added' | 'changed' | 'removed' | 'mode' | 'type' | 'linked' | 'rewritten' | 'unreadable';
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
  /** It is on record and refuses nothing. */
  readonly noticed?: true;
  /** Of `linked`: the other names it has, as far as they are in the workspace. */
  readonly names?: readonly string[];
}

/** What differs between two measures of a workspace, in the order of the paths. */
export function compareTrees(
  before: Pick<Manifest, 'entries'>,
  after: Pick<Manifest, 'entries'>,
  contentOf: (content: string) => Buffer | null,
): readonly PathChange[] {
  const changes: PathChange[] = [];
  const derived = derivedFrom(before.entries, after.entries);
  for (const path of derived?.gone ?? before.entries.keys()) {
    if (after.entries.has(path)) continue;
    const was = before.entries.get(path) ?? null;
    const noticed = was === null ? {} : ifWeightless(path, was);
    changes.push({ path, how: 'removed', before: was, after: null, ...noticed });
  }
  for (const [path, is] of derived?.fresh ?? after.entries) {
    const was = before.entries.get(path);
    if (is === was) continue;
    if (was !== undefined) {
      const found = changeOf(path, was, is, contentOf);
      if (found !== null) changes.push({ path, before: was, after: is, ...found });
      continue;
    }
    const bad = is.type === 'other' || is.type === 'closed';
    const noticed = /^\.git\/worktrees\/[^/]+\/(?:gitdir|commondir)$/.test(path)
      ? { noticed: true as const }
      : ifWeightless(path, is);
    changes.push({ path, how: bad ? 'unreadable' : 'added', before: null, after: is, ...noticed });
  }
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/**
 * Files that came or changed and have a second name: what is written through one name is written to all. Given with all
 * names in the workspace; `null` among them stands for one that is not in it. INVARIANT: all names of a file share one
 * list, as an agent may give a file any number of them.
 */
export function secondNames(
  changes: readonly PathChange[],
  { entries }: Pick<Manifest, 'entries'>,
): readonly { readonly change: PathChange; readonly names: readonly (string | null)[] }[] {
  const linked = changes.filter(
    ({ after, how }) => after?.type === 'file' && after.links > 1n && how !== 'removed',
  );
  if (linked.length === 0) return [];
  const wanted = new Set(linked.map(({ after }) => identityOf(after as TreeEntry)));
  const byInode = new Map<string, { readonly names: (string | null)[]; links: bigint }>();
  for (const [path, entry] of entries) {
    const identity = identityOf(entry);
    if (entry.links < 2n || !wanted.has(identity)) continue;
    const file = byInode.get(identity) ?? { names: [], links: entry.links };
    file.names.push(path);
    // Looked at one after another: there may be more by then, and the most counts.
    if (entry.links > file.links) file.links = entry.links;
    byInode.set(identity, file);
  }
  for (const { names, links } of byInode.values()) if (names.length < Number(links)) names.push(null);
  return linked.map((change) => {
    const file = byInode.get(identityOf(change.after as TreeEntry));
    return { change, names: file?.names ?? [null] };
  });
}

/** A file of the home folder in which nothing counts is on record and refuses nothing: clients make theirs by themselves. */
function ifWeightless(path: string, { type, content }: TreeEntry): Pick<PathChange, 'noticed'> {
  return isInHome(path) && type === 'file' && isWeightless(path, content) ? { noticed: true } : {};
}

function identityOf({ device, inode }: TreeEntry): string {
  return `${device}:${inode}`;
}

/** Null where nothing that counts is different: the same bytes with the same permissions are no change. */
function changeOf(
  path: string,
  was: TreeEntry,
  is: TreeEntry,
  contentOf: (content: string) => Buffer | null,
): Pick<PathChange, 'how' | 'noticed'> | null {
  if (is.type === 'closed') return isSameClosed(was, is) ? null : { how: 'unreadable' };
  // It could not be read, or not in time, and by its dates it is what it was.
  if (was.type === 'closed' && is.type === 'file' && isSameFile(was, is)) return null;
  if (was.type !== is.type) return { how: is.type === 'other' ? 'unreadable' : 'type' };
  if (is.type === 'other')
    return was.inode === is.inode && was.mode === is.mode ? null : { how: 'unreadable' };
  if (was.content !== is.content) {
    return isConfig(path) && sameWeight(was, is, contentOf)
      ? { how: 'changed', noticed: true }
      : { how: 'changed' };
  }
  if (is.type === 'file' && was.mode !== is.mode) return { how: 'mode' };
  if (isSameFile(was, is)) return null;
  return isInHome(path) || guardOf(path) !== null ? { how: 'rewritten', noticed: true } : null;
}

function isSameClosed(was: TreeEntry, is: TreeEntry): boolean {
  return was.type === 'closed' && was.content === is.content && isSameFile(was, is);
}

function isSameFile(was: TreeEntry, is: TreeEntry): boolean {
  return was.inode === is.inode && was.ctime === is.ctime;
}

/** Only of the workspace's own repository, its submodules and worktrees: further down it is a file like any other. */
function isConfig(path: string): boolean {
  return /^\.git\/(?:modules\/.+\/|worktrees\/[^/]+\/)?config(?:\.worktree)?$/.test(path);
}

function sameWeight(was: TreeEntry, is: TreeEntry, contentOf: (content: string) => Buffer | null): boolean {
  const [one, other] = [contentOf(was.content), contentOf(is.content)];
  if (one === null || other === null) return false;
  return weightySettings(one) === weightySettings(other);
}

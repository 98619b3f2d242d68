import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import type { Account } from './accounts.ts';

/**
 * How one of these users could put something else at a path: what they may write, of the path itself and of the folders
 * it lies in. Null where none of them can. In a folder with the sticky bit nobody replaces what is not theirs.
 */
export function writableBy(path: string, users: readonly Account[]): string | null {
  for (let at = path; ; at = dirname(at)) {
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats === undefined) return `\`${at}\` is not there`;
    if (stats.isSymbolicLink()) return `\`${at}\` is a link`;
    const sticky = at !== path && (stats.mode & STICKY) !== 0;
    const who = users.find((user) => stats.uid === user.uid || (!sticky && mayWrite(stats, user)));
    if (who !== undefined) return `\`${who.name}\` can write \`${at}\``;
    if (at === dirname(at)) return null;
  }
}

/** The first folder on the way to a path that a user may not enter, the path itself included; null where there is none. */
export function closedTo(path: string, user: Account): string | null {
  const way: string[] = [];
  for (let at = path; at !== dirname(at); at = dirname(at)) way.unshift(at);
  for (const at of way) {
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats === undefined || !allows(stats, user, 0o1)) return at;
  }
  return null;
}

/** Whether the mode lets a user write. Whether the owner may is up to the owner. */
function mayWrite(stats: Stats, user: Account): boolean {
  return stats.uid === user.uid || allows(stats, user, 0o2);
}

function allows({ mode, uid, gid }: Stats, user: Account, wanted: number): boolean {
  const shift = uid === user.uid ? 6 : user.groups.has(gid) ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

const STICKY = 0o1000;

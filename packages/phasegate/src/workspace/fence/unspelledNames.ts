import { createHash, type Hash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';

/** Stands in a name for bytes that are not UTF-8. */
const UNKNOWN = '\uFFFD';
const SLASH = Buffer.from('/');
/** More than anybody has; what is beyond makes the digest one that never comes again. */
const MOST = 10_000;

/** Whether a name may be another one than it is shown as. */
export function isUnspelled(name: string): boolean {
  return name.includes(UNKNOWN);
}

/**
 * One digest of everything in a folder whose name is not UTF-8 and that counts, and of all below: by the bytes of names,
 * inodes and dates. By their text such names cannot be asked about, and several look alike.
 */
export function unspelledIn(folder: string, counts: (name: string) => boolean): string {
  const sum = createHash('sha256');
  const left = { entries: MOST };
  const own = namesIn(Buffer.from(folder)).filter(
    (name) => isUnspelled(String(name)) && counts(String(name)),
  );
  for (const name of own) add(sum, Buffer.concat([Buffer.from(folder), SLASH, name]), left);
  return left.entries < 0 ? `more than ${MOST} ${process.hrtime.bigint()}` : sum.digest('hex');
}

function add(sum: Hash, place: Buffer, left: { entries: number }): void {
  left.entries -= 1;
  if (left.entries < 0) return;
  const stats = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return;
  const { mode, ino, size } = stats;
  // Of a folder, what is in it is said by what follows.
  const dates = stats.isDirectory() ? '' : `${ino} ${size} ${stats.ctimeNs}`;
  sum.update(`${place.toString('latin1')}\0${mode} ${dates}\0`);
  if (!stats.isDirectory()) return;
  for (const name of namesIn(place)) add(sum, Buffer.concat([place, SLASH, name]), left);
}

function namesIn(folder: Buffer): readonly Buffer[] {
  try {
    return readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare);
  } catch {
    return [];
  }
}

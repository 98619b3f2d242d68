import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync } from 'node:fs';
import { NotRegular, readRegular } from '../files/readRegular.ts';
import { type Sighting, sight } from './fileIdentity.ts';

/** One of the guard's own files: its bytes, or where it leads where it is a link. */
export interface GuardedEntry {
  /** `other` is what has no content to be kept: a pipe, a socket, a place with too much in it. */
  readonly kind: 'file' | 'link' | 'other';
  /** SHA-256 of the content, the target of a link, or what else it is. */
  readonly digest: string;
  /** Null where the file is too large to be kept. */
  readonly content: Buffer | null;
  readonly mode: number;
}

/** Stands for a place with more in it than is looked at: something could hide behind it. */
export const OVERFULL: GuardedEntry = { kind: 'other', digest: 'too many folders', content: null, mode: 0 };

/** An entry, and how it was seen. */
export interface SeenEntry {
  readonly entry: GuardedEntry;
  readonly sighting?: Sighting;
}

/** Content beyond this is not kept: of such a file only its size and times are known. */
export const LARGEST = 10 * 1024 * 1024;
/**
 * Up to here a file is read each time. What is written through a mapping of it into memory need not change its times,
 * and reading so little costs hardly more than asking for them.
 */
const SMALL = 1024 * 1024;

/** How an entry is to be read. */
export interface ReadingOf {
  /** What was seen there last. */
  readonly before?: SeenEntry | undefined;
  /** So many bytes may be kept of it. */
  readonly room: number;
}

/** What stands at a place; null where there is nothing, or a folder. */
export function readGuardedEntry(place: string, { before, room }: ReadingOf): SeenEntry | null {
  const most = Math.min(room, LARGEST);
  try {
    const stats = lstatSync(place, { bigint: true });
    const mode = Number(stats.mode) & 0o777;
    if (stats.isSymbolicLink()) {
      return { entry: { kind: 'link', digest: readlinkSync(place), content: null, mode } };
    }
    if (stats.isDirectory()) return null;
    if (!stats.isFile()) return { entry: { kind: 'other', digest: 'not a file', content: null, mode } };
    const large = `large:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
    if (stats.size > most) return { entry: { kind: 'file', digest: large, content: null, mode } };
    const sighting = sight(stats, before?.sighting);
    const isSame = before?.sighting?.settled === true && before.sighting.identity === sighting.identity;
    if (isSame && stats.size > SMALL) return before;
    const content = contentOf(place, most);
    if (content === 'larger') return { entry: { kind: 'file', digest: large, content: null, mode } };
    if (content === null) return null;
    const digest =
      before?.entry.content?.equals(content) === true
        ? before.entry.digest
        : createHash('sha256').update(content).digest('hex');
    return { entry: { kind: 'file', digest, content, mode }, sighting };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    // Ours to read before and not now: that is a change, and it is put back.
    return { entry: { kind: 'file', digest: `unreadable:${String(code)}`, content: null, mode: 0 } };
  }
}

/** Null where something else came in its place since. */
function contentOf(place: string, most: number): Buffer | 'larger' | null {
  try {
    return readRegular(place, { most, links: 'refuse' });
  } catch (error) {
    if (!(error instanceof NotRegular)) throw error;
    return error.code === 'too_large' ? 'larger' : null;
  }
}

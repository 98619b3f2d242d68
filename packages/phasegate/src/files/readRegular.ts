import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** How a file is read that an agent may have put there. */
export interface RegularReading {
  /** A file with more bytes is not read. */
  readonly most: number;
  /** Whether a link in its place is followed, or refused with `ELOOP`. */
  readonly links: 'follow' | 'refuse';
}

/** What stands at a path is not a file, or one that is too large. */
export class NotRegular extends Error {
  readonly code: 'not_a_file' | 'too_large';

  constructor(code: NotRegular['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Opens a file that an agent may have put there, and closes it again. INVARIANT: what is opened is asked what it is, not
 * its path before, and opening waits for nobody: a pipe that comes in its place would hold up the whole process.
 */
export function withRegular<T>(
  place: string,
  { most, links }: RegularReading,
  act: (file: number, stats: BigIntStats) => T,
): T {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const file = openSync(place, O_RDONLY | O_NONBLOCK | (links === 'refuse' ? O_NOFOLLOW : 0));
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile()) throw new NotRegular('not_a_file', 'is not a file');
    if (stats.size > BigInt(most)) throw tooLarge(most, stats.size);
    return act(file, stats);
  } finally {
    closeSync(file);
  }
}

/** All bytes of such a file. Throws `NotRegular`, or what the system says. */
export function readRegular(place: string, reading: RegularReading): Buffer {
  return withRegular(place, reading, (file, { size }) => bytesOf(file, Number(size), reading.most));
}

/** The same; null where there is nothing that can be read. */
export function readRegularIfAny(place: string, reading: RegularReading): Buffer | null {
  try {
    return readRegular(place, reading);
  } catch {
    return null;
  }
}

/** All that is in an open file, which may have grown since its size was asked for. */
export function bytesOf(file: number, size: number, most: number): Buffer {
  let bytes = Buffer.allocUnsafe(size + 1);
  for (let length = 0; ; ) {
    const read = readSync(file, bytes, length, bytes.length - length, length);
    length += read;
    if (length > most) throw tooLarge(most, length);
    if (read === 0) return bytes.subarray(0, length);
    if (length < bytes.length) continue;
    const larger = Buffer.allocUnsafe(Math.min(2 * bytes.length, most + 1));
    bytes.copy(larger);
    bytes = larger;
  }
}

function tooLarge(most: number, size: number | bigint): NotRegular {
  return new NotRegular('too_large', `has ${size} bytes; the limit is ${most}`);
}

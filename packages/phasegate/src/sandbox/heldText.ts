import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file without a name: it ends with those who hold it. */
export interface HeldText {
  readonly descriptor: number;
  /** How much is in it by now. */
  size(): number;
  close(): void;
}

/** Holds a text to be read, or written on, through a descriptor. Nothing of it stands on a command line. */
export function holdText(content: string | Buffer): HeldText {
  const descriptor = nameless(content) ?? named(content);
  return {
    descriptor,
    size: () => fstatSync(descriptor).size,
    close: () => closeSync(descriptor),
  };
}

/** Holds a file of the system to be read from its beginning; null where it cannot be. */
export function holdFile(place: string): HeldText | null {
  try {
    const descriptor = openSync(place, constants.O_RDONLY);
    return {
      descriptor,
      size: () => fstatSync(descriptor).size,
      close: () => closeSync(descriptor),
    };
  } catch {
    return null;
  }
}

/** A file that never has a name. Node does not name the flag. */
const O_TMPFILE = 0o20000000 | (constants.O_DIRECTORY ?? 0);

/** Null where the file system knows none. */
function nameless(content: string | Buffer): number | null {
  let descriptor: number;
  try {
    descriptor = openSync(tmpdir(), O_TMPFILE | constants.O_RDWR, 0o600);
  } catch {
    return null;
  }
  try {
    const bytes = Buffer.from(content);
    // At places, so that the one who reads or writes next begins at the beginning.
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, undefined, done);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function named(content: string | Buffer): number {
  const path = join(tmpdir(), `phasegate-${randomBytes(12).toString('hex')}`);
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  try {
    return openSync(path, 'r+');
  } finally {
    rmSync(path);
  }
}

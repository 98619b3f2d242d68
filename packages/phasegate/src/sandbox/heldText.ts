import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, rmSync, writeFileSync } from 'node:fs';
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
  const path = join(tmpdir(), `phasegate-${randomBytes(12).toString('hex')}`);
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r+');
  } finally {
    rmSync(path);
  }
  return {
    descriptor,
    size: () => fstatSync(descriptor).size,
    close: () => closeSync(descriptor),
  };
}

import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';

/** More than a pipe can hold: where there is more to read, somebody is writing. */
const MOST_BYTES = 4 * 1024 * 1024;
const PIECE = 64 * 1024;

/**
 * Takes what is in a pipe at this moment, without waiting for more. Gives whether that was the end: a program's own end
 * of its output is closed before its end is told, so if there is no end after it, another process has the output too.
 */
export function drainNow(stream: Readable | null, take: (chunk: Buffer) => void): boolean {
  if (stream === null || stream.readableEnded || stream.destroyed) return true;
  // Node has no public way to read a pipe without waiting; where this one is gone, nothing is believed.
  const fd = (stream as unknown as { readonly _handle?: { readonly fd?: number } })._handle?.fd;
  if (fd === undefined || fd < 0) return false;
  for (let bytes = 0; bytes < MOST_BYTES; ) {
    const piece = Buffer.alloc(PIECE);
    let length: number;
    try {
      length = readSync(fd, piece);
    } catch {
      // `EAGAIN`: nothing is there, and it is not the end.
      return false;
    }
    if (length === 0) return true;
    bytes += length;
    take(piece.subarray(0, length));
  }
  return false;
}

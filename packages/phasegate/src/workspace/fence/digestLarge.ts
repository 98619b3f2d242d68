import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';

const PIECE = 1024 * 1024;

/** SHA-256 of an open file, read piece by piece. */
export function digestLarge(file: number): string {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE);
  for (
    let read = readSync(file, piece, 0, PIECE, null);
    read > 0;
    read = readSync(file, piece, 0, PIECE, null)
  )
    hash.update(piece.subarray(0, read));
  return hash.digest('hex');
}

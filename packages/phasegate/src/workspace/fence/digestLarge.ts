import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

const PIECE = 1024 * 1024;
const PIECES_AT_ONCE = 8;

/**
 * SHA-256 of an open file, read piece by piece, with turns for others between them: one large file must not hold up
 * everybody. Null where it is longer than `most`, as a file may grow while it is read.
 */
export async function digestLarge(file: number, most: number): Promise<string | null> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE);
  for (let count = 1, length = 0; length <= most; count += 1) {
    const read = readSync(file, piece, 0, PIECE, null);
    if (read === 0) return hash.digest('hex');
    hash.update(piece.subarray(0, read));
    length += read;
    if (count % PIECES_AT_ONCE === 0) await nextTurn();
  }
  return null;
}

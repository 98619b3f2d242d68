import { createHash, type Hash } from 'node:crypto';
import type { ReadingGit } from '../workspace/readingGit.ts';

/** SHA-256 of the content of a blob, or why there is none. */
export type BlobDigest = { readonly sha256: string } | { readonly problem: string };

/**
 * Digests of blobs by their ids, read in one go and never held whole. Each is hashed a second time the way git does it:
 * an object that somebody put in the place of another one is not the one the commit names.
 */
export async function blobDigests(
  git: ReadingGit,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, BlobDigest>> {
  const found = new Map<string, BlobDigest>();
  if (ids.size === 0) return found;
  const reader = createReader((id, digest) => found.set(id, digest));
  const input = `${[...ids].join('\n')}\n`;
  await git(['cat-file', '--batch', '--buffer'], { input, onOutput: reader });
  return found;
}

interface Reading {
  readonly id: string;
  left: number;
  readonly isBlob: boolean;
  readonly content: Hash;
  readonly whole: Hash;
}

/** Takes `ID TYPE SIZE`, the content and a line break, again and again, in pieces of any size. */
function createReader(take: (id: string, digest: BlobDigest) => void): (chunk: Buffer) => void {
  let line = '';
  let reading: Reading | null = null;
  let skip = 0;

  function finish(done: Reading): void {
    const isSame = done.whole.digest('hex') === done.id;
    const sha256 = done.content.digest('hex');
    if (!done.isBlob) take(done.id, { problem: 'it is not a file in git' });
    else if (!isSame) take(done.id, { problem: 'its object is damaged: it is not what its id stands for' });
    else take(done.id, { sha256 });
    reading = null;
    skip = 1;
  }

  function begin(header: string): void {
    const [id = '', type = '', size = ''] = header.split(' ');
    if (!/^\d+$/.test(size)) {
      take(id, { problem: 'its content is not in this clone: fetch the whole repository' });
      return;
    }
    const whole = createHash(id.length === 64 ? 'sha256' : 'sha1');
    whole.update(`${type} ${size}\0`);
    reading = { id, left: Number(size), isBlob: type === 'blob', content: createHash('sha256'), whole };
    if (reading.left === 0) finish(reading);
  }

  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (skip > 0) {
        skip -= 1;
        at += 1;
      } else if (reading !== null) {
        const piece = chunk.subarray(at, at + reading.left);
        reading.content.update(piece);
        reading.whole.update(piece);
        reading.left -= piece.length;
        at += piece.length;
        if (reading.left === 0) finish(reading);
      } else {
        const end = chunk.indexOf(10, at);
        line += chunk.toString('latin1', at, end === -1 ? chunk.length : end);
        at = end === -1 ? chunk.length : end + 1;
        if (end === -1) continue;
        begin(line);
        line = '';
      }
    }
  };
}

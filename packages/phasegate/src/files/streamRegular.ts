import { constants, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { NotRegular } from './readRegular.ts';

/** The bytes of a large file that an agent may have put there, piece by piece; waits for no pipe. */
export async function* streamRegular(place: string): AsyncGenerator<Buffer> {
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new NotRegular('not_a_file', 'is not a file');
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(STREAMED), 0, STREAMED, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

const STREAMED = 1024 * 1024;

/** Writes all of such a file to one that is open. */
export async function copyRegular(from: string, to: number): Promise<void> {
  for await (const piece of streamRegular(from))
    for (let at = 0; at < piece.length; ) at += writeSync(to, piece, at);
}

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';

/** What the system says of files, in one hash: it changes when one of them is written, and is cheap to look at. */
export async function clientIdentity(files: readonly string[]): Promise<string> {
  const sum = createHash('sha256');
  for (const file of files) {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    sum.update(`${[dev, ino, size, mtimeNs, ctimeNs].join(' ')} ${file}\n`);
  }
  return sum.digest('hex');
}

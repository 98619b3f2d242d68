import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { AuditReport } from '@phasegate/core/ports';

/** Where archived runs are, and what is to be said of that. */
export interface ArchiveHere {
  readonly runs: number;
  readonly file: string;
  readonly note: string;
  /** What the note says, for a program; left out where the archive is at a server, and nothing is known of it. */
  readonly state?: 'verified' | 'there' | 'missing' | 'replaced';
}

/**
 * Archives as a verification found them, each at the place it was read from, where it was one that was `given`. One that
 * was neither given nor is where it was written to may be lost.
 */
export async function archivesHere(
  archived: AuditReport['archived'],
  given: readonly string[],
): Promise<readonly ArchiveHere[]> {
  const known = new Set(archived?.map(({ file }) => file));
  // A file is read once more only where nothing else says which archive it is.
  const moved = given.filter((file) => !known.has(file));
  const hashes = new Map<string, string>();
  // The verification said what is wrong with anything else, and a pipe would be waited for.
  for (const file of archived?.some(({ verified }) => verified) ? moved : [])
    if (await isFile(file)) hashes.set(await hashOf(file), file);
  return Promise.all(
    (archived ?? []).map(async ({ runs, file, sha256, verified, replaced }): Promise<ArchiveHere> => {
      if (verified) {
        return { runs, file: hashes.get(sha256) ?? file, note: ', which verifies', state: 'verified' };
      }
      if (replaced === true) {
        return { runs, file, note: ' (what is there is not what was archived)', state: 'replaced' };
      }
      if (await isFile(file)) return { runs, file, note: '', state: 'there' };
      return { runs, file, note: ' (not there any more)', state: 'missing' };
    }),
  );
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

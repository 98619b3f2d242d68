import type { Keeping } from '../../runtime/ports.ts';
import { archivesHere } from './archivesHere.ts';
import type { Finding } from './finding.ts';
import { FIND_ARCHIVES, missingArchives } from './text/missingArchives.ts';

/** Archives that are not where they were written to. Some keep them elsewhere, so it is nobody's fault. */
export async function examineArchives(open: Pick<Keeping, 'archiveFiles'>): Promise<readonly Finding[]> {
  const files = await open.archiveFiles();
  const known = files.map((one) => ({ ...one, sha256: '', verified: false }));
  const missing = (await archivesHere(known, [])).filter(({ state }) => state === 'missing');
  const message = missingArchives(missing.map(({ file }) => file));
  if (message === null) return [];
  return [{ name: 'archives', status: 'optional', message, next_step: FIND_ARCHIVES }];
}

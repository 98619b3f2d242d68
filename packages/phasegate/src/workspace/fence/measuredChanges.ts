import type { MeasuredChange, MeasuredFile } from '@phasegate/core/ports';
import { compareTrees } from './compareTrees.ts';
import type { Contents } from './contents.ts';
import type { Manifest, TreeEntry } from './manifest.ts';

/** What differs between two measures, without what is only on record. */
export function measuredChanges(
  before: Manifest,
  after: Manifest,
  contents: Pick<Contents, 'read'>,
): readonly MeasuredChange[] {
  const changes = compareTrees(before, after, (content) => contents.read(content));
  return changes
    .filter(({ noticed }) => noticed !== true)
    .map((change) => ({
      path: change.path,
      how: change.how,
      before: fileOf(change.before),
      after: fileOf(change.after),
    }));
}

function fileOf(entry: TreeEntry | null): MeasuredFile | null {
  return entry === null ? null : { type: entry.type, content: entry.content, size: Number(entry.size) };
}

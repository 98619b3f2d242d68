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
  if (entry === null) return null;
  const { type, content, size } = entry;
  const mode = type === 'file' ? { mode: (Number(entry.mode) & 0o7777).toString(8).padStart(3, '0') } : {};
  return { type, content, size: Number(size), ...mode };
}

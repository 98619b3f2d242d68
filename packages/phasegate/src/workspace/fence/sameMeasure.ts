import { derivedFrom } from './derivedEntries.ts';
import type { Manifest, TreeEntry } from './manifest.ts';

/** Whether two measures were taken by the same rules. */
export function isRuledAlike(one: Manifest, other: Manifest): boolean {
  return rulesText(one) === rulesText(other);
}

/** Spelled once for each measure: all runs that start in a moment share one, and it is compared for each of them. */
function rulesText(manifest: Manifest): string {
  const known = rulesTexts.get(manifest);
  if (known !== undefined) return known;
  const { root, rules, tracked, notes, home, mapped } = manifest;
  const text = JSON.stringify({ root, rules, tracked, notes, home, mapped });
  rulesTexts.set(manifest, text);
  return text;
}

const rulesTexts = new WeakMap<Manifest, string>();

/** Whether a new measure would say the same; then the old one serves, which may only look more often. */
export function isSameMeasure(before: Manifest, after: Manifest): boolean {
  if (before.entries === after.entries) return true;
  if (before.entries.size !== after.entries.size) return false;
  const derived = derivedFrom(before.entries, after.entries);
  if (derived !== null && derived.gone.length > 0) return false;
  for (const [path, is] of derived?.fresh ?? after.entries) {
    const was = before.entries.get(path);
    if (was === is) continue;
    if (was === undefined || !isSameEntry(was, is)) return false;
  }
  return true;
}

function isSameEntry(was: TreeEntry, is: TreeEntry): boolean {
  return (
    was.ctime === is.ctime &&
    was.content === is.content &&
    was.inode === is.inode &&
    // Another size with the same content: somebody may write to it unseen from now on.
    was.size === is.size &&
    was.mode === is.mode &&
    was.links === is.links &&
    was.type === is.type
  );
}

import type { TreeEntry } from './manifest.ts';

type Entries = ReadonlyMap<string, TreeEntry>;

/** How entries differ from those they were made of. */
export interface Derived {
  readonly base: Entries;
  /** What came, or is not the same entry. */
  readonly fresh: Entries;
  readonly gone: readonly string[];
}

const derived = new WeakMap<Entries, Derived>();

/** Entries that are those of `base` but for some. The one who compares the two need not look at all others. */
export function deriveEntries(base: Entries, fresh: Entries, gone: readonly string[]): Entries {
  const entries = new Map(base);
  for (const path of gone) entries.delete(path);
  for (const [path, entry] of fresh) entries.set(path, entry);
  derived.set(entries, { base, fresh, gone });
  return entries;
}

/** How `after` differs from `before`, where the one was made of the other; else null. */
export function derivedFrom(before: Entries, after: Entries): Derived | null {
  const found = derived.get(after);
  return found?.base === before ? found : null;
}

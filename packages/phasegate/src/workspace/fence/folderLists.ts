import type { BigIntStats } from 'node:fs';
import type { FileSystems } from './fileSystems.ts';
import type { RuleFile } from './ignoreRules.ts';
import { statsOf } from './readEntry.ts';

/** What a walk does with a path of a folder. */
export type Step = 'measure' | 'open' | 'guarded' | 'git';

/** The paths of one folder that count, and what becomes of each. */
export interface FolderList {
  /** Those that are measured. */
  readonly files: readonly string[];
  /** Those that are walked. */
  readonly others: readonly (readonly [path: string, step: Exclude<Step, 'measure'>])[];
}

/** Lists of folders from earlier walks: one that was not changed since is not read again. */
export interface FolderLists {
  /** The lists of walks by the same rules, for a walk that begins now. */
  under(root: string, rules: readonly RuleFile[], systems: FileSystems): KnownLists;
}

/** Lists for one walk. */
export interface KnownLists {
  /** The list that still holds, or what to give to `keep` with a new one. */
  find(key: string, place: string): FolderList | Found;
  keep(key: string, found: Found, list: FolderList): void;
}

/** What a folder was before it was listed; null where its dates say nothing. */
export interface Found {
  readonly dates: BigIntStats | null;
}

/**
 * File systems that date a folder whenever a name comes or goes in it, and that nobody else writes to: by the numbers
 * that Linux has for ext, xfs, btrfs, tmpfs, overlay, f2fs and zfs. In any other every folder is read at every look.
 */
const DATED: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
]);
/** A folder that changed within this time of a look, or later, may change again without another date. */
const COARSE_NS = 50_000_000n;

/**
 * Remembers lists by the dates of their folders. INVARIANT: the dates are asked for before the folder is read, and count
 * only if they were old by then: so a name that came or went since has left another date. Nobody can set that one back
 * who cannot set the clock.
 */
export function createFolderLists(): FolderLists {
  let kept: { readonly rules: readonly RuleFile[]; readonly lists: Map<string, Kept> } | null = null;

  return {
    under(root, rules, systems) {
      const first = statsOf(root);
      if (first === null || first === 'closed') return NONE;
      const { dev: device } = first;
      const type = systems.typeOf(device, root);
      if (type === null || !DATED.has(type)) return NONE;
      if (kept?.rules !== rules) kept = { rules, lists: new Map() };
      const { lists } = kept;
      const settled = BigInt(Date.now()) * 1_000_000n - COARSE_NS;
      return {
        find(key, place) {
          // The walk begins with the root, which was asked for just now.
          const dates = key === '' ? first : statsOf(place);
          if (dates === null || dates === 'closed' || dates.dev !== device) return { dates: null };
          const known = lists.get(key);
          if (known !== undefined && isSame(known.dates, dates)) return known.list;
          return { dates };
        },
        keep(key, { dates }, list) {
          if (dates !== null && dates.ctimeNs < settled) lists.set(key, { dates, list });
          else lists.delete(key);
        },
      };
    },
  };
}

interface Kept {
  readonly dates: BigIntStats;
  readonly list: FolderList;
}

const NONE: KnownLists = { find: () => ({ dates: null }), keep: () => undefined };

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ctimeNs === other.ctimeNs &&
    one.mtimeNs === other.mtimeNs &&
    one.ino === other.ino &&
    one.dev === other.dev
  );
}

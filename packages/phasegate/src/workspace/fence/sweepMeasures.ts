import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contents } from './contents.ts';
import { GRACE_MS, type MeasureFolders } from './keptManifests.ts';
import { readManifest } from './manifest.ts';

/** Fewer measures than this are left alone, whether or not a run has them. */
const FEW = 32;
/** A process that ends many runs looks whether there is something to sweep once in so many. */
const ENDS = 256;
/** So much of contents stays on disk when no measure has them any more: the next run begins sooner with them. */
const MOST_CONTENTS = 256 * 1024 * 1024;

/** What is swept. */
export interface Sweeping {
  readonly folders: MeasureFolders;
  readonly contents: Pick<Contents, 'size' | 'dropUnused'>;
}

/** Asks for the measures of all runs that are not over. */
export type InUse = () => Promise<ReadonlySet<string>>;

/**
 * Drops measures that no run has: those several runs had, and those whose process died before a run had them. To be told
 * of every run that ends. It sweeps when twice as many are there as it last left, so that asking all runs what they have
 * stays a small part of the work.
 *
 * INVARIANT: what a run has is never dropped. A measure is touched before the run that is to have it is saved, so that
 * one untouched for the whole grace is in a saved run or in none; who has it is asked after that was looked at.
 */
export function createSweep({ folders, contents }: Sweeping): (inUse: InUse) => Promise<void> {
  const swept = join(folders.shared, 'swept');
  let ended = 0;

  function isDue(): boolean {
    ended += 1;
    if (ended % ENDS !== 1) return false;
    const count = namesIn(folders.own).length + namesIn(folders.shared).length;
    return count > FEW && count > 2 * leftIn(swept);
  }

  return async (inUse) => {
    if (!isDue()) return;
    const now = Date.now();
    const old = [folders.own, folders.shared].flatMap((folder) =>
      namesIn(folder)
        .filter((name) => name !== 'swept')
        .map((name) => join(folder, name))
        .filter((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now) < now - GRACE_MS),
    );
    const used = old.length === 0 ? new Set<string>() : await inUse();
    const last = readOr(folders.last, '').trim();
    for (const file of old) {
      const tree = /([0-9a-f]{64})\.json$/.exec(file)?.[1];
      if (tree === undefined || (tree !== last && !used.has(tree))) rmSync(file, { force: true });
    }
    const left = [folders.own, folders.shared].flatMap((folder) =>
      namesIn(folder).map((name) => join(folder, name)),
    );
    writeFileSync(swept, String(left.length), { mode: 0o600 });
    if (contents.size() > MOST_CONTENTS)
      contents.dropUnused(contentsOf([...left, ...older(folders)]), GRACE_MS);
  };
}

/** The contents that measures name. One that cannot be read names none: nothing can be restored from it. */
function contentsOf(files: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const file of files) {
    try {
      for (const { content } of readManifest(readFileSync(file, 'utf8')).entries.values()) found.add(content);
    } catch {
      // Not a measure.
    }
  }
  return found;
}

function older(folders: MeasureFolders): readonly string[] {
  return namesIn(folders.older).flatMap((run) =>
    namesIn(join(folders.older, run)).map((name) => join(folders.older, run, name)),
  );
}

function leftIn(swept: string): number {
  return Number.parseInt(readOr(swept, '0'), 10) || 0;
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

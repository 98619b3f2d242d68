import { type BigIntStats, lstatSync, statSync } from 'node:fs';

/** What tells one state of a file or folder from another, without reading it. */
export interface FileFacts {
  readonly facts: string;
  /** Whether another change could not hide behind the same facts: the clock of a file system moves in steps. */
  readonly settled: boolean;
}

/**
 * The facts of what is there now; null where nothing is. They are taken before the reading they stand for, so that a
 * change in between is one of what was read.
 */
export function factsOf(path: string, links: 'follow' | 'refuse'): FileFacts | null {
  const now = Date.now();
  let stats: BigIntStats | undefined;
  try {
    const options = { bigint: true, throwIfNoEntry: false } as const;
    stats = links === 'follow' ? statSync(path, options) : lstatSync(path, options);
  } catch {
    return null;
  }
  if (stats === undefined) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  // Some file systems count whole seconds, or two.
  const grain = ctimeNs % 1_000_000_000n === 0n ? COARSE_MS : FINE_MS;
  return {
    facts: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`,
    settled: Number(ctimeNs / 1_000_000n) < now - grain,
  };
}

const FINE_MS = 50;
const COARSE_MS = 2050;

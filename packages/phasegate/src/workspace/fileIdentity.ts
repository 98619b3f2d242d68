import type { BigIntStats } from 'node:fs';

/** How a file or folder was seen, to tell later whether it can have changed. */
export interface Sighting {
  readonly identity: string;
  /** When it was first seen with this identity, by the clock of this process. */
  readonly since: number;
  /** Whether any later change must show in the identity. */
  readonly settled: boolean;
}

/** What of a file or folder changes with it. Its ctime is the kernel's: a program without special rights cannot set it. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs, mode, nlink }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs, mode, nlink].join(':');
}

/**
 * To be asked before what is sighted is read. Two changes within one step of the file system's clock look the same, so
 * an identity must have stood for longer than a step before what is read under it is believed. Measured by our own
 * clock: that of a file system on another machine may differ.
 */
export function sight(stats: BigIntStats, before: Sighting | undefined): Sighting {
  const identity = identityOf(stats);
  // Not `performance`, whose module a short-lived process would load for this alone.
  const now = process.uptime() * 1000;
  const since = before?.identity === identity ? before.since : now;
  return { identity, since, settled: now - since >= stepOf(stats) };
}

/** File systems whose times have no fractions count in steps of up to two seconds. */
function stepOf({ ctimeNs }: BigIntStats): number {
  return ctimeNs % 1_000_000n === 0n ? 2_500 : 50;
}

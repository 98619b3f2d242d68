import { readdirSync, readFileSync } from 'node:fs';

/**
 * Inodes of files that some process has in its memory to write to. The system dates such a file when a page of it is first
 * written, and what is written to the same page later leaves no trace in its dates. Empty where there is no `/proc`.
 */
export function mappedFiles(): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const pid of namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    for (const [, inode = ''] of mapsOf(pid).matchAll(WRITTEN)) inodes.add(inode);
  }
  return inodes;
}

/** Addresses, rights with `w` and shared, offset, device, inode; not what stands for memory alone. */
const WRITTEN = /^[0-9a-f]+-[0-9a-f]+ .w.s [0-9a-f]+ [0-9a-f]+:[0-9a-f]+ ([1-9]\d*) /gm;

function mapsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'latin1');
  } catch {
    // Another user's process, or one that has ended.
    return '';
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

import { readdirSync, readlinkSync } from 'node:fs';

/** Processes that have the folder as theirs. */
export function atWorkIn(root: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === root;
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

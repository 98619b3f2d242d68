import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** How the system calls the standard output of a process that was just started; null where it does not say. */
export function outputOf(pid: number | undefined): string | null {
  return pid === undefined ? null : linkAt(`/proc/${pid}/fd/1`);
}

/** The processes that have an output open, by name and number; none where the system does not say. */
export function holdersOf(output: string | null): readonly string[] {
  if (output === null) return [];
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  const holders = pids.filter((pid) =>
    namesIn(`/proc/${pid}/fd`).some((fd) => linkAt(`/proc/${pid}/fd/${fd}`) === output),
  );
  return holders.map((pid) => `${commandOf(pid)} (process ${pid})`);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // It ended while we looked.
    return 'a program';
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Another user's process, one that has ended, or a system without `/proc`.
    return [];
  }
}

function linkAt(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
}

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** How the system calls the standard output of a process that was just started; null where it does not say. */
export function outputOf(pid: number | undefined, descriptor = 1): string | null {
  return pid === undefined ? null : linkAt(`/proc/${pid}/fd/${descriptor}`);
}

/**
 * The processes that have an output open, by name and number. Where a program ended before its output could be looked
 * up, those of its group; none where the system does not say.
 */
export function holdersOf(output: string | null, group: number | undefined): readonly string[] {
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  const holders = pids.filter((pid) =>
    output === null
      ? groupOf(pid) === group
      : namesIn(`/proc/${pid}/fd`).some((fd) => linkAt(`/proc/${pid}/fd/${fd}`) === output),
  );
  return holders.map((pid) => `${commandOf(pid)} (process ${pid})`);
}

/** Null for a process that has ended, also where nobody has taken note of its end yet. */
function groupOf(pid: string): number | null {
  const stat = textAt(`/proc/${pid}/stat`);
  // The program's name comes before, in parentheses, and may contain anything.
  const [state, , group] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return state === undefined || state === 'Z' ? null : Number(group);
}

function commandOf(pid: string): string {
  return textAt(`/proc/${pid}/comm`)?.trim() ?? 'a program';
}

function textAt(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It ended while we looked, or the system has no `/proc`.
    return null;
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

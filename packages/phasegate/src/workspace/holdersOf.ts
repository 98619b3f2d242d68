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
  const holders =
    output === null ? processes().filter((pid) => groupOf(pid) === group) : processesWith(output);
  return holders.map((pid) => `${commandOf(pid)} (process ${pid})`);
}

/**
 * Whether nobody is known to have an output open but the process that was started and those it started itself: where that
 * makes a sandbox, these only passed it on, and let go of it when it is their turn, perhaps just now.
 */
export function isPassedOn(output: string | null, started: number | undefined): boolean {
  if (output === null || started === undefined) return false;
  return processesWith(output).every((pid) => pid === String(started) || parentOf(pid) === started);
}

function processes(): readonly string[] {
  return namesIn('/proc').filter((name) => /^\d+$/.test(name));
}

function processesWith(output: string): readonly string[] {
  return processes().filter((pid) =>
    namesIn(`/proc/${pid}/fd`).some((fd) => linkAt(`/proc/${pid}/fd/${fd}`) === output),
  );
}

function parentOf(pid: string): number | null {
  const stat = textAt(`/proc/${pid}/stat`);
  const [, parent] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return parent === undefined ? null : Number(parent);
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

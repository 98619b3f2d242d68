import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** The name under which everything a runner starts has the runner's mark in its environment. */
export const DRIVER_MARK = 'PHASEGATE_DRIVER';

const LOOK_MS = 20;

/**
 * Ends process groups, and every process with a mark in its environment: one that moved to a group or a session of its
 * own has the mark still. Answers when none of them is left.
 */
export async function endAll(groups: readonly number[], mark: string): Promise<void> {
  for (;;) {
    const all = processes();
    const left = all === null ? groups.filter(isThere) : groups.filter((group) => isIn(all, group));
    const marked = all === null ? [] : all.filter(({ pid }) => hasMark(pid, mark));
    if (left.length === 0 && marked.length === 0) return;
    for (const group of left) end(-group);
    for (const { pid } of marked) end(pid);
    await pause(LOOK_MS);
  }
}

interface Process {
  readonly pid: number;
  readonly group: number;
}

/** Every process that is running; null where the system does not say. One that has ended and was not asked for is left out. */
function processes(): readonly Process[] | null {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? processOf(Number(name)) : []));
  } catch {
    return null;
  }
}

function processOf(pid: number): readonly Process[] {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything, so what counts comes after the last one.
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === undefined || group === undefined || state === 'Z' || state === 'X'
    ? []
    : [{ pid, group: Number(group) }];
}

function isIn(all: readonly Process[], wanted: number): boolean {
  return all.some(({ group }) => group === wanted);
}

function hasMark(pid: number, mark: string): boolean {
  return pid !== process.pid && `\0${textOf(`/proc/${pid}/environ`)}`.includes(`\0${DRIVER_MARK}=${mark}\0`);
}

/** Empty where it has ended, or is another user's. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function isThere(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

function end(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

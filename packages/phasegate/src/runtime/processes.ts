import { hash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What has to be known of processes on this machine. */
export interface Processes {
  /** This process, told apart from a later one of the same number. */
  readonly self: string;
  /** Whether a process, as its own `self` named it, has ended. One that cannot be looked at has not. */
  isGone(mark: string): boolean;
  /**
   * Kills the programs of a call whose process is gone; false where there were none. A process that is killed cannot
   * take its programs with it.
   */
  endPrograms(call: string): boolean;
  /** Values of `CALL_VARIABLE` that this process and those it was started by were started with. */
  callsAround(): readonly string[];
}

/**
 * Has the id of the tool call a program was started for in the program's environment. It gives nobody a right: who
 * sets it is refused sooner, and who hides it waits longer.
 */
export const CALL_VARIABLE = 'PHASEGATE_CALL';

/** Looks at the processes of this machine. */
export const PROCESSES: Processes = {
  get self() {
    own ??= markOf(process.pid);
    return own;
  },

  isGone(mark) {
    const [pid = '', start = '', boot = '', space = '', machine = ''] = mark.split(' ');
    const here = PROCESSES.self.split(' ');
    // Nodes of one store may be on many machines, and what another one carries out cannot be looked at from here.
    if (machine !== '' && machine !== here[4]) return false;
    // No process outlives its kernel, and one in another container has a number that says nothing here.
    if (boot !== here[2]) return boot !== '' && here[2] !== '';
    if (space !== here[3]) return false;
    try {
      process.kill(Number(pid), 0);
    } catch (error) {
      return codeOf(error) === 'ESRCH';
    }
    const now = statOf(Number(pid));
    // A dead process that nobody has buried yet carries nothing out.
    return now !== null && (now.state === 'Z' || now.state === 'X' || now.start !== start);
  },

  endPrograms(call) {
    const left = numbersOfAll().filter((pid) => pid !== process.pid && variableOf(pid) === call);
    for (const pid of left) kill(pid);
    return left.length > 0;
  },

  callsAround() {
    const found: string[] = [];
    const note = (environment: string | undefined) => {
      if (environment !== undefined && environment !== '') found.push(environment);
    };
    note(process.env[CALL_VARIABLE]);
    const seen = new Set([process.pid]);
    for (let pid = process.ppid; pid > 1 && !seen.has(pid); pid = statOf(pid)?.parent ?? 0) {
      seen.add(pid);
      note(variableOf(pid));
    }
    return found;
  },
};

let own: string | undefined;

interface Stat {
  readonly state: string;
  readonly parent: number;
  /** In clock ticks since the machine was started. */
  readonly start: string;
}

/** Null where there is no such process, or the system does not tell. */
function statOf(pid: number): Stat | null {
  const text = read(`/proc/${pid}/stat`);
  // The name stands in parentheses and may have any character in it, these too.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return null;
  const [state = '', parent = '0'] = fields;
  return { state, parent: Number(parent), start: fields[19] ?? '' };
}

function markOf(pid: number): string {
  const boot = read('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return [pid, statOf(pid)?.start ?? '', boot, spaceOfNumbers(), machineHere(boot)].join(' ');
}

function machineHere(boot: string): string {
  const installed = read('/etc/machine-id')?.trim() ?? '';
  return machineOf({ installed, boot, name: process.getBuiltinModule('node:os').hostname() });
}

/**
 * A machine, or container: by what it was called when it was installed, and by its name. Where it was called nothing, as
 * in most containers, the name alone says little: it may go to another machine while the one before still works.
 */
export function machineOf(known: {
  readonly installed: string;
  readonly boot: string;
  readonly name: string;
}): string {
  const { installed, boot, name } = known;
  return hash('sha256', `${/^[0-9a-f]{32}$/i.test(installed) ? installed : boot} ${name}`).slice(0, 16);
}

/** Which numbers processes have here: each container has its own. */
function spaceOfNumbers(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Systems without this have one space of numbers.
    return '';
  }
}

function numbersOfAll(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // A system without such files does not tell.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself, or is another user's and none of ours.
  }
}

function variableOf(pid: number): string | undefined {
  const entry = read(`/proc/${pid}/environ`)
    ?.split('\0')
    .find((line) => line.startsWith(`${CALL_VARIABLE}=`));
  return entry?.slice(CALL_VARIABLE.length + 1);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Gone, another user's, or a system without such files: what is not known is not used.
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

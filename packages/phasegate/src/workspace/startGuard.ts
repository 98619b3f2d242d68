import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PhasegateError } from '@phasegate/core';
import { DRIVER_MARK } from './endAll.ts';

/** A process that ends what this one has started when this one is gone, however it went. */
export interface Guard {
  /** Aborted when the guard itself is gone: from then on nothing would end with us. */
  readonly loss: AbortSignal;
  /** Takes leave: what was started goes on, and another may start. */
  leave(): Promise<void>;
}

/** What a guard is given. */
export interface Guarding {
  /** Locked for as long as something that was started may still be running. */
  readonly lock: string;
  /** What everything that this process starts has in its environment. */
  readonly mark: string;
  /** The mark of a process before this one that did not take leave; what has it is ended first. */
  readonly leftBehind: string | null;
}

/**
 * Starts a guard. Null where what another process had started is still running and cannot be ended.
 *
 * The kernel closes our end of the guard's input with this process. A child that is just being started holds it too
 * until its own program runs, and has the mark by then: so none is missed, also one the guard was not yet told of.
 */
export async function startGuard({ lock, mark, leftBehind }: Guarding): Promise<Guard | null> {
  const words = ['--disable-warning=ExperimentalWarning', programFile(), lock, mark, leftBehind ?? ''];
  // Out of our group, so that Ctrl-C on a terminal leaves it alone; with nothing of our environment.
  const child = spawn(process.execPath, words, {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const loss = new AbortController();
  const gone = new Promise<void>((resolve) => {
    const end = () => {
      loss.abort();
      resolve();
    };
    child.once('error', end);
    child.once('exit', end);
  });
  child.stdin?.on('error', () => undefined);
  const said = await firstWord(child, gone);
  if (said === 'busy') return null;
  if (said !== 'ready') throw new PhasegateError('internal', 'the guard of the runner cannot be started');
  const tell = (word: string) => void child.stdin?.write(`${word}\n`);
  const before = process.env[DRIVER_MARK];
  process.env[DRIVER_MARK] = mark;
  guards.add(tell);
  return {
    loss: loss.signal,
    async leave() {
      guards.delete(tell);
      if (before === undefined) delete process.env[DRIVER_MARK];
      else process.env[DRIVER_MARK] = before;
      child.stdin?.end('bye\n');
      await gone;
    },
  };
}

/** What a program is given so that it can be found when this process is gone. */
export function markOfDriver(): Readonly<Record<string, string>> {
  const mark = guards.size === 0 ? undefined : process.env[DRIVER_MARK];
  return mark === undefined ? {} : { [DRIVER_MARK]: mark };
}

/** Puts a process group under the guards of this process, until it has ended. */
export function guardGroup(leader: number | undefined): () => void {
  if (leader === undefined) return () => undefined;
  const told = [...guards];
  for (const tell of told) tell(`+${leader}`);
  return () => {
    for (const tell of told) tell(`-${leader}`);
  };
}

// Of this process: whatever starts a program, for a step or for a check of it, starts it for the same runner.
const guards = new Set<(word: string) => void>();

function firstWord(child: ChildProcess, gone: Promise<void>): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(String(chunk).trim()));
    void gone.then(() => resolve(''));
  });
}

/** Beside this file, or where the build left it when this file is part of a bundle. */
function programFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const candidates = [`./guardProcess.${extension}`, '../workspace/guardProcess.js'];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined)
    throw new PhasegateError('internal', 'the program that guards a runner is missing');
  return found;
}

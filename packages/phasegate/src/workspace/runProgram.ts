import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { drainNow } from './drainNow.ts';
import { holdersOf, isPassedOn, outputOf } from './holdersOf.ts';
import { guardGroup, markOfDriver } from './startGuard.ts';

/** A program to run, and when to end it. */
export interface Program {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Standard output and error together; a program that prints more is killed, unless only tails are kept. */
  readonly maxOutputBytes: number;
  /** Keeps this much of the end of each stream and lets the program print on. */
  readonly tailBytes?: number;
  /** Given to the program on standard input; left out, it has none. */
  readonly input?: string;
  /** Told what is printed as it comes; standard output is then not kept, only the tail. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  readonly signal: AbortSignal;
  /** What it inherits behind standard error, in order; null: nothing. */
  readonly descriptors?: readonly (number | null)[];
  /** Which of those is its standard output, in the place of the one that it is started with. */
  readonly output?: number;
  /** Which of those tells that the program has ended, and waits until its output was looked at. */
  readonly ending?: number;
  /** A pipe in both directions behind those, and who serves our end of it. */
  readonly channel?: { serve(pipe: unknown): void };
}

/** How a program ended, and what it printed. */
export interface Ended {
  readonly how:
    | { readonly kind: 'exited'; readonly code: number }
    | { readonly kind: 'killed'; readonly signal: string }
    | { readonly kind: 'not_started'; readonly code: string }
    | { readonly kind: 'timed_out' }
    | { readonly kind: 'aborted' }
    | { readonly kind: 'printed_too_much' };
  readonly stdout: Buffer;
  /** Empty unless tails are kept. */
  readonly stderr: Buffer;
  /** The last bytes of both streams, in the order they came. */
  readonly tail: Buffer;
  /**
   * Whether another process still had the program's standard output when the program ended. What came last may be
   * that one's, and nobody can tell: who takes the output for the program's word must not.
   */
  readonly heldOpen: boolean;
  /** Those processes by name and number, where the system says. */
  readonly heldBy: readonly string[];
  /** What a sandbox did not hold of the program's scope; absent where it held all, or there was none. */
  readonly notHeld?: readonly string[];
  /** How much was printed on each stream, kept or not. */
  readonly printed: { readonly stdout: number; readonly stderr: number };
}

/**
 * Runs a program in a process group of its own and answers when it and every process of the group is gone, also
 * those it left behind. A process that moves to another group or session by itself is out of reach here; a sandbox
 * is the answer to that.
 */
export function runProgram(program: Program): Promise<Ended> {
  return new Promise((resolve) => {
    const started = start(program);
    if (!('child' in started)) return resolve(started);
    watch(started.child, program, resolve);
  });
}

/** Behind standard input, output and error. */
const FIRST_DESCRIPTOR = 3;
const TAIL_BYTES = 2048;
/** How long a group may take to end itself after SIGTERM. */
const GRACE_MS = 2000;
/** How long to wait for the streams after everything was killed: an escaped process may hold them open. */
const DRAIN_MS = 1000;

/** How often, and after how long each, it is looked again whether the makers of a sandbox let go of an output. */
const PASSED_ON_TRIES = 100;
const PASSED_ON_MS = 10;

function start(program: Program): { readonly child: ChildProcess } | Ended {
  const [file, ...rest] = program.argv;
  try {
    const child = spawn(file, rest, {
      cwd: program.cwd,
      env: { ...program.environment, ...markOfDriver() },
      stdio: [
        program.input === undefined ? 'ignore' : 'pipe',
        program.output === undefined ? 'pipe' : 'ignore',
        'pipe',
        ...(program.descriptors ?? []).map((descriptor, place) =>
          [program.output, program.ending].includes(place + FIRST_DESCRIPTOR)
            ? 'pipe'
            : (descriptor ?? 'ignore'),
        ),
        ...(program.channel === undefined ? [] : (['pipe'] as const)),
      ],
      shell: false,
      detached: true,
    });
    program.channel?.serve(child.stdio.at(-1));
    return { child };
  } catch (error) {
    const printed = { stdout: 0, stderr: 0 };
    return {
      how: { kind: 'not_started', code: codeOf(error) },
      stdout: NOTHING,
      stderr: NOTHING,
      tail: NOTHING,
      heldOpen: false,
      heldBy: [],
      printed,
    };
  }
}

const NOTHING = Buffer.alloc(0);

function watch(child: ChildProcess, program: Program, resolve: (ended: Ended) => void): void {
  const { tailBytes } = program;
  const limit = tailBytes === undefined ? program.maxOutputBytes : Number.POSITIVE_INFINITY;
  const streams = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const printed = { stdout: 0, stderr: 0 };
  let tail = NOTHING;
  let bytes = 0;
  let how: Ended['how'] | null = null;
  let heldOpen = false;
  let heldBy: readonly string[] = [];
  let isLooked = false;
  const stdout = child.stdio[program.output ?? 1] as Readable | null | undefined;
  const output = outputOf(child.pid, program.output);
  const timers: NodeJS.Timeout[] = [];
  const later = (act: () => void, delay: number) => timers.push(setTimeout(act, delay));

  const killGroup = (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The group is already gone.
    }
  };
  const stop = (reason: Ended['how']) => {
    if (how !== null) return;
    how = reason;
    killGroup('SIGTERM');
    later(() => killGroup('SIGKILL'), GRACE_MS);
    // A process the kernel cannot end must not hold the answer for ever.
    later(finish, GRACE_MS + DRAIN_MS);
  };
  const take = (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    bytes += chunk.length;
    if (bytes > limit) stop({ kind: 'printed_too_much' });
  };
  const abort = () => stop({ kind: 'aborted' });
  const leave = () => killGroup('SIGKILL');
  const unguard = guardGroup(child.pid);
  const finish = () => {
    for (const timer of timers) clearTimeout(timer);
    program.signal.removeEventListener('abort', abort);
    stayWith.delete(leave);
    unguard();
    stdout?.destroy();
    child.stderr?.destroy();
    // A program may end before the last of what it printed was read.
    if (how?.kind === 'exited' && bytes > limit) how = { kind: 'printed_too_much' };
    const [out, err] = [Buffer.concat(streams.stdout), Buffer.concat(streams.stderr)];
    const ended = how ?? { kind: 'not_started', code: 'UNKNOWN' };
    resolve({ how: ended, stdout: out, stderr: err, tail, heldOpen, heldBy, printed });
  };

  const keep = (stream: 'stdout' | 'stderr', chunk: Buffer) => {
    printed[stream] += chunk.length;
    if (tailBytes !== undefined) {
      streams[stream] = [Buffer.concat([...streams[stream], chunk]).subarray(-tailBytes)];
    } else if (program.onOutput !== undefined) {
      if (how === null || how.kind === 'exited') program.onOutput(stream, chunk);
    } else if (stream === 'stdout' && bytes <= limit) {
      // What comes after the limit is not kept: a flood must not fill our memory while its sender dies.
      streams.stdout.push(chunk);
    }
    take(chunk);
  };
  stdout?.on('data', (chunk: Buffer) => keep('stdout', chunk));
  child.stderr?.on('data', (chunk: Buffer) => keep('stderr', chunk));
  // A program may end, or close its input, without having read it all.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(program.input);
  child.once('error', (error) => {
    how ??= { kind: 'not_started', code: codeOf(error) };
    if (child.pid === undefined) finish();
  });
  // Before anybody is ended: anyone who is still there may print in the program's place.
  const look = () => {
    isLooked = true;
    heldOpen = !drainNow(stdout ?? null, (chunk) => keep('stdout', chunk));
    heldBy = heldOpen ? holdersOf(output, child.pid) : [];
  };
  /**
   * Those who make a sandbox have the output too, until it is their turn to close it, which a short program may not take as
   * long as. INVARIANT: nobody else has it meanwhile, and nothing is printed: what comes then is another's word.
   */
  const lookOnceLetGo = (tries: number, told: () => void) => {
    look();
    if (!heldOpen || tries === 0 || !isPassedOn(output, child.pid)) return told();
    const seen = printed.stdout;
    later(() => {
      lookOnceLetGo(tries - 1, () => {
        if (printed.stdout !== seen) heldOpen = true;
        told();
      });
    }, PASSED_ON_MS);
  };
  const ending = program.ending === undefined ? null : (child.stdio[program.ending] as Duplex | null);
  ending?.on('error', () => undefined);
  ending?.once('data', () => lookOnceLetGo(PASSED_ON_TRIES, () => ending.end('looked\n')));
  child.once('exit', (code, signal) => {
    how ??= code === null ? { kind: 'killed', signal: signal ?? 'unknown' } : { kind: 'exited', code };
    if (ending === null) look();
    // The one who was to tell it was ended, and with it perhaps those who would have been seen.
    else if (!isLooked) heldOpen = true;
    killGroup('SIGKILL');
    later(finish, DRAIN_MS);
  });
  child.once('close', finish);
  endWithUs(leave);
  later(() => stop({ kind: 'timed_out' }), program.timeoutMs);
  if (program.signal.aborted) abort();
  else program.signal.addEventListener('abort', abort, { once: true });
}

// One listener for all: many programs run at once in a parallel step.
const stayWith = new Set<() => void>();
let listening = false;

/** No program outlives this process, as far as this process gets to say so. */
function endWithUs(leave: () => void): void {
  stayWith.add(leave);
  if (listening) return;
  listening = true;
  process.once('exit', () => {
    for (const act of stayWith) act();
  });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

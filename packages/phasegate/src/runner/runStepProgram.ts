import { stripVTControlCharacters } from 'node:util';
import { oneLine, reasonOf } from '@phasegate/core/model';
import type { Enclose, FreeProgram } from '../runtime/ports.ts';
import { runEnclosed } from '../workspace/runEnclosed.ts';
import type { Ended } from '../workspace/runProgram.ts';
import { type OutputLines, outputLines } from './outputLines.ts';
import type { Driving, StepAtWork } from './parts.ts';
import { keepTail, stepFolder } from './stepFolder.ts';
import { cut } from './stepOutput.ts';

/** Standard output and error of one attempt together; a program that prints more is ended. */
export const OUTPUT_LIMIT = 16 * 1024 * 1024;
/** So much of a program's standard output is kept as one text. */
const WHOLE_LIMIT = 256 * 1024;

/** A program that does the work of a step. */
export interface StepProgram {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
  /** Whether its last line is a result and not for reading. */
  readonly holdResult: boolean;
  /** What it has in a sandbox beside the scope of its phase. */
  readonly held?: Pick<FreeProgram, 'read' | 'write' | 'engine'>;
  /** Ends it when there is nothing left for it to do. */
  readonly until?: AbortSignal;
}

/** What came of it: that it ended well, with what it printed, or why not. */
export type ProgramEnd =
  | { readonly kind: 'ended'; readonly last: ReturnType<OutputLines['last']>; readonly whole: string | null }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'aborted' };

/** Runs a program in the project's root for as long as the step may take, and shows what it prints. */
export async function runStepProgram(
  driving: Driving,
  step: StepAtWork,
  program: StepProgram,
): Promise<ProgramEnd> {
  const { request } = driving;
  const { phase, item } = step;
  const show = (line: string) =>
    request.report({ event: 'output', phase: phase.id, item, line: stripVTControlCharacters(line) });
  const stdout = outputLines(show, { holdResult: program.holdResult });
  const stderr = outputLines(show, { holdResult: false });
  const seconds = phase.timeoutSeconds ?? request.stepTimeout;
  let whole: string[] | null = [];
  let length = 0;
  const enclose = await encloseFor(driving, step);
  const ended = await runEnclosed(
    {
      argv: program.argv,
      cwd: request.project.root,
      environment: program.environment,
      input: program.input,
      timeoutMs: milliseconds(seconds),
      maxOutputBytes: OUTPUT_LIMIT,
      // One of its own: many steps wait for the same interruption.
      signal: AbortSignal.any([driving.signal, ...(program.until === undefined ? [] : [program.until])]),
      onOutput(stream, chunk) {
        if (stream === 'stderr') return stderr.push(chunk);
        stdout.push(chunk);
        length += chunk.length;
        if (length > WHOLE_LIMIT) whole = null;
        whole?.push(chunk.toString('latin1'));
      },
    },
    enclose === null ? undefined : (free) => enclose({ ...free, ...program.held }),
  );
  stdout.end();
  stderr.end();
  const { stateDir } = request.project;
  await keepTail(stateDir, stepFolder(stateDir, step), stripVTControlCharacters(ended.tail.toString()));
  if (driving.signal.aborted) return { kind: 'aborted' };
  if (ended.how.kind === 'aborted') return { kind: 'ended', last: null, whole: null };
  const reason = reasonFor(ended, { program: program.argv[0], seconds, stderr: stderr.last()?.text ?? '' });
  if (reason !== null) return { kind: 'failed', reason };
  if (program.holdResult && ended.heldOpen)
    return { kind: 'failed', reason: heldOpen(program.argv[0], ended) };
  const text = whole === null ? null : Buffer.from(whole.join(''), 'latin1').toString('utf8');
  return { kind: 'ended', last: stdout.last(), whole: text };
}

/** The sandbox of a step's programs; null where they have none. */
export async function encloseFor({ request }: Driving, { run }: StepAtWork): Promise<Enclose | null> {
  const { sandboxes } = request.open;
  return request.sandbox === true ? sandboxes.forRun(run.id) : sandboxes.asked(run.id);
}

/** A time limit as a timer takes it: one that is too long for a timer would fire at once. */
export function milliseconds(seconds: number): number {
  return Math.min(seconds * 1000, 2 ** 31 - 1);
}

/** Why a program did not end well; null where it did. */
function reasonFor(
  { how }: Ended,
  about: { readonly program: string; readonly seconds: number; readonly stderr: string },
): string | null {
  const name = `\`${about.program}\``;
  const said = stripVTControlCharacters(about.stderr).trim();
  const saying = said === '' ? '' : `: ${cut(said, 500)}`;
  switch (how.kind) {
    case 'exited':
      return how.code === 0 ? null : `${name} ended with exit code ${how.code}${saying}`;
    case 'killed':
      return `${name} was killed by ${how.signal}${saying}`;
    case 'timed_out':
      return `${name} did not end within ${about.seconds} seconds and was killed`;
    case 'printed_too_much':
      return `${name} printed too much, more than ${OUTPUT_LIMIT / 1024 / 1024} MB, and was killed`;
    case 'not_started':
      return notStarted(name, how.code);
    case 'aborted':
      return `${name} was interrupted`;
  }
}

/** INVARIANT: a result is what the program itself printed: with another at its output nobody knows whose it is. */
function heldOpen(program: string, { heldBy }: Ended): string {
  const named = heldBy.slice(0, MOST_NAMED).map((holder) => `\`${oneLine(holder)}\``);
  const who = named.length === 0 ? 'a process it had started' : named.join(', ');
  return `\`${program}\` ended while ${who} could still print in its place, so its result is not taken; wait for that process, or give it an output of its own`;
}

const MOST_NAMED = 5;

/** Why a program could not be started. */
export function notStarted(name: string, code: string): string {
  if (code === 'ENOENT') return `the program ${name}, or the one its first line names, was not found`;
  if (code === 'EACCES') return `the program ${name} is not executable`;
  return `the program ${name} could not be started: ${reasonOf({ code })}`;
}

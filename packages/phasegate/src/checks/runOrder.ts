import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { reasonOf } from '@phasegate/core/model';
import type { CheckAnswer, CheckInput, RanProgram } from '../runtime/ports.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { findBeneath } from '../workspace/openBeneath.ts';
import { programOf } from '../workspace/programOf.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { boundFiles, MOST_WRITTEN } from './boundFiles.ts';

/** A program that a check runs in the workspace. */
export interface Order {
  readonly argv: readonly [string, ...string[]];
  /** As it is named in an answer. */
  readonly text: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
  readonly maxOutputBytes: number;
  /** A folder of the engine's own that it may write to, such as for its report. */
  readonly writes?: string;
}

/** A program that ended by itself, and what it printed. */
export interface Exited {
  readonly kind: 'exited';
  readonly code: number;
  readonly stdout: Buffer;
  /** Whether another process could still print in its place. */
  readonly heldOpen: boolean;
  /** For the receipt. */
  readonly ran: RanProgram;
  /** The answer that it did not do what was asked, with the end of its output. */
  refuse(what: string): CheckAnswer;
}

/** What came of it, or the answer of the check where it did not end by itself. */
export type Outcome = Exited | { readonly kind: 'answered'; readonly answer: CheckAnswer };

/** What a check is given to run programs with. */
export type RunningIn = Pick<CheckInput, 'workspace' | 'signal' | 'enclose' | 'room'>;

/** Said of a program whose output cannot be told from that of another. */
export const HELD_OPEN =
  'while a process it had started could still print in its place; wait for that process, or give it an output of its own';

/** A check did not answer in time. The runtime tells it from other errors by its name and says `check_timed_out`. */
export class CheckTimeout extends Error {
  override readonly name = 'CheckTimeout';
}

/** Runs the program of a check, in its sandbox where it has one. */
export async function runOrder(
  order: Order,
  { workspace, signal, enclose, room }: RunningIn,
): Promise<Outcome> {
  const root = await realpath(workspace);
  const cwd = await folderInside(root, order.cwd);
  if (cwd === null) {
    const reason = `\`cwd\` \`${order.cwd}\` is not a folder inside the workspace`;
    return { kind: 'answered', answer: { passed: false, reason } };
  }
  // In a room it is the agent's workspace that no program may come from, also where the search path leads into it.
  const writable = room === undefined ? root : await realpath(room.copyOf);
  const clean = cleanEnvironment(process.env, writable, { ...room?.environment, ...order.env });
  const environment = { ...clean, PATH: [...(room?.path ?? []), clean.PATH].join(delimiter) };
  const startedAt = Date.now();
  // Before it runs: afterwards another file may stand in its place.
  const program = await programOf(order.argv[0], { cwd, path: environment.PATH, locate: room?.locate });
  if (room !== undefined && program.program?.startsWith(`${writable}/`) === true) {
    const reason = `\`${order.text}\` would run a program of the workspace, and not of its copy; a human corrects the search path, or the workflow`;
    return { kind: 'answered', answer: { passed: false, reason } };
  }
  // Loaded when a command is run: most processes run none, and every one pays for what it loads.
  const { runEnclosed } = await import('../workspace/runEnclosed.ts');
  // In the workspace, a human sees what is written, and the disk is theirs; a room is ours.
  const ours = [...(room === undefined ? [] : [root]), ...(order.writes === undefined ? [] : [order.writes])];
  const bound = ours.length === 0 ? null : await boundFiles(ours);
  const until = bound === null ? signal : AbortSignal.any([signal, bound.signal]);
  const ended = await runEnclosed({ ...order, cwd, environment, signal: until }, enclose);
  const wroteTooMuch = (await bound?.end()) === true;
  const { how, stdout, tail, heldOpen } = ended;
  const refuse = (what: string): CheckAnswer => ({
    passed: false,
    reason: `\`${order.text}\` ${what}${ending(tail)}`,
  });
  const ran = (exitCode: number | null): RanProgram => ({
    argv: order.argv,
    ...program,
    exitCode,
    outputHash: hash('sha256', stdout, 'hex'),
    startedAt,
    endedAt: Date.now(),
  });
  const answered = (what: string) =>
    ({ kind: 'answered', answer: { ...refuse(what), ran: [ran(null)] } }) as const;
  if (wroteTooMuch && !signal.aborted)
    return answered(`wrote more than ${MOST_WRITTEN / 1024 ** 2} MB of files, which is refused`);
  switch (how.kind) {
    case 'timed_out':
      throw new CheckTimeout(
        `\`${order.text}\` did not end within ${order.timeoutMs / 1000} seconds and was killed${ending(tail)}`,
      );
    case 'aborted': {
      const late = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
      if (late) throw new CheckTimeout(`\`${order.text}\` did not end in time and was killed${ending(tail)}`);
      throw new Error(`\`${order.text}\` was aborted and killed`);
    }
    case 'printed_too_much':
      return answered(`printed more than ${order.maxOutputBytes} bytes and was killed`);
    case 'not_started':
      return answered(`${whyNotStarted(how.code, order.argv[0])}${await insideOnly(order.argv[0], root)}`);
    case 'killed':
      return answered(`was killed by ${how.signal}`);
    case 'exited':
      return { kind: 'exited', code: how.code, stdout, heldOpen, refuse, ran: ran(how.code) };
  }
}

/** Words of a command as a person would write them, cut to what an answer has room for. */
export function textOf(words: readonly string[]): string {
  return cut(words.map(quotedWord).join(' '));
}

/** As much of a command line as an answer has room for. */
export function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function whyNotStarted(code: string, program: string): string {
  if (code === 'ENOENT')
    return `could not be started: there is no program \`${program}\`; a human installs it, or corrects the workflow`;
  if (code === 'EACCES') return `could not be started: \`${program}\` is not executable`;
  return `could not be started: ${reasonOf({ code })}`;
}

/** Said of a program that only the search path of the user has, such as one of a `.venv` in the project. */
async function insideOnly(name: string, root: string): Promise<string> {
  if (name.includes('/')) return '';
  const { program } = await programOf(name, { cwd: root, path: process.env.PATH });
  if (program === null) return '';
  return '; the one in the workspace is not taken, as an agent can write there: a human runs `phasegate deps freeze`, or installs it elsewhere';
}

/** The end of the output as text a terminal may show: no escape sequences, no control characters. */
function ending(tail: Buffer): string {
  const text = stripVTControlCharacters(tail.toString('utf8'))
    .replace(/^\ufffd+/u, '')
    .replace(/\r\n?/gu, '\n')
    .replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
  return text === '' ? '' : `; its output ends with:\n${text}`;
}

/** The folder, or null where it is none, lies outside the workspace, or a link leads to it: it may lead elsewhere next. */
async function folderInside(root: string, cwd: string): Promise<string | null> {
  const path = relativePath(cwd);
  if (path === null || (await findBeneath(root, path)).kind !== 'folder') return null;
  return path === '' ? root : `${root}/${path}`;
}

function quotedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : JSON.stringify(word);
}

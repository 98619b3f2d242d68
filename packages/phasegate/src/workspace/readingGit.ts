import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { GIT_SETTINGS } from './gitSettings.ts';
import { runProgram } from './runProgram.ts';

/** How git ended. */
export interface GitEnded {
  readonly code: number | null;
  readonly out: Buffer;
  /** The last line of what it said. */
  readonly said: string;
}

/** What git is given, and who takes what it prints. */
export interface GitCall {
  readonly input?: string;
  /** Told what is printed as it comes; nothing is kept then. */
  readonly onOutput?: (chunk: Buffer) => void;
}

/** Runs git in one repository. */
export type ReadingGit = (words: readonly string[], call?: GitCall) => Promise<GitEnded>;

/**
 * Git as a reader of objects and of nothing else. An agent may have written all that is in the repository beside them:
 * its config, replaced and grafted commits, a cache of the history, attributes. INVARIANT: none of it starts a program,
 * reaches a network or shows another history than the one the ids of the commits stand for.
 */
export function readingGit(folder: string, env: Readonly<Record<string, string | undefined>>): ReadingGit {
  const environment = cleanEnvironment(env, folder, FIXED);
  const settings = [...GIT_SETTINGS, ...READING].flatMap((setting) => ['-c', setting]);
  return async (words, { input, onOutput } = {}) => {
    const ended = await runProgram({
      argv: ['git', '--no-pager', '--no-replace-objects', '--literal-pathspecs', ...settings, ...words],
      cwd: folder,
      environment,
      timeoutMs: GIT_LIMIT_MS,
      maxOutputBytes: onOutput === undefined ? MOST_BYTES : Number.POSITIVE_INFINITY,
      ...(input === undefined ? {} : { input }),
      ...(onOutput === undefined
        ? {}
        : {
            onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => {
              if (stream === 'stdout') onOutput(chunk);
            },
          }),
      signal: new AbortController().signal,
    });
    const { how } = ended;
    if (how.kind === 'not_started') throw unreadable('git is not installed here', 'install git');
    if (how.kind === 'printed_too_much' || how.kind === 'timed_out') {
      throw unreadable(
        'the range is too large to be judged at once',
        'judge it in parts, one after the other',
      );
    }
    const said = oneLine(ended.tail.toString().trim().split('\n').at(-1) ?? '');
    return { code: how.kind === 'exited' ? how.code : null, out: ended.stdout, said };
  };
}

/** The fault of a range that git cannot give. */
export function unreadable(message: string, hint: string): PhasegateError {
  return new PhasegateError('range_unreadable', message, { hint });
}

const GIT_LIMIT_MS = 600_000;
const MOST_BYTES = 256 * 1024 * 1024;

/** Settings that win over any file, beside those git is always run with. */
const READING = [
  // A cache of the history, which git believes without looking at the commits.
  'core.commitGraph=false',
  'core.useReplaceRefs=false',
  'core.quotePath=false',
  // Ends a command that shows differences: none here does.
  'diff.external=',
  'protocol.allow=never',
  // A container's checkout often belongs to another user; nothing of that repository is run.
  'safe.directory=*',
] as const;

const FIXED = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
} as const;

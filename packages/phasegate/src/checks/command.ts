import { realpath } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import type { CheckAnswer, CheckImplementation } from '../runtime/ports.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { findBeneath } from '../workspace/openBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import type { Ended } from '../workspace/runProgram.ts';

/** Runs a command in the workspace and judges how it ended. The engine runs it itself, so its answer is `verified`. */
export const command: CheckImplementation = {
  name: 'command',
  summary: 'a command, run by the engine in the workspace, ends as expected',
  class: 'verified',
  reads: 'workspace',
  parameters: {
    type: 'object',
    additionalProperties: false,
    oneOf: [{ required: ['argv'] }, { required: ['shell'] }],
    properties: {
      argv: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', description: 'One word; no shell reads it' },
        description: 'Program and arguments. A bare name is never looked for inside the workspace',
      },
      shell: {
        type: 'string',
        minLength: 1,
        description: 'A whole command line for `/bin/sh`, where one is really needed',
      },
      cwd: { type: 'string', minLength: 1, description: 'Folder to run in, inside the workspace' },
      timeout_seconds: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 3600,
        description: 'Seconds after which the command and all it started are killed; 300 by default',
      },
      expect_exit: {
        oneOf: [
          { type: 'integer', minimum: 0, maximum: 255 },
          { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0, maximum: 255 } },
        ],
        description: 'The exit code, or the codes, that count as success; 0 by default',
      },
      stdout_matches: {
        type: 'string',
        minLength: 1,
        description:
          'Text that standard output must contain, so that a command that did nothing does not pass',
      },
      env: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Fixed variables beside PATH, HOME, LANG, LC_ALL, TZ and TMPDIR',
      },
      max_output_bytes: {
        type: 'integer',
        minimum: 1,
        maximum: 67_108_864,
        description: 'Output after which the command is killed; 1048576 by default',
      },
    },
  },
  async run({ with: parameters, workspace, signal, enclose }) {
    const order = orderFrom(parameters);
    const root = await realpath(workspace);
    const cwd = await folderInside(root, order.cwd);
    if (cwd === null)
      return { passed: false, reason: `\`cwd\` \`${order.cwd}\` is not a folder inside the workspace` };
    const environment = cleanEnvironment(process.env, root, order.env);
    // Loaded when a command is run: most processes run none, and every one pays for what it loads.
    const { runEnclosed } = await import('../workspace/runEnclosed.ts');
    const ended = await runEnclosed({ ...order, cwd, environment, signal }, enclose);
    return judge(order, ended, signal);
  },
};

/** A check did not answer in time. The runtime tells it from other errors by its name and says `check_timed_out`. */
export class CheckTimeout extends Error {
  override readonly name = 'CheckTimeout';
}

interface Order {
  readonly argv: readonly [string, ...string[]];
  readonly text: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly expected: readonly number[];
  readonly stdoutMatches: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly maxOutputBytes: number;
}

const MAX_TIMEOUT_SECONDS = 3600;

/** Reads the parameters. A definition was checked against the schema above; a value that slipped by it throws here. */
function orderFrom(parameters: JsonObject): Order {
  const { argv, shell, cwd = '.', timeout_seconds: seconds = 300, expect_exit: exit = 0 } = parameters;
  const { stdout_matches: matches = null, env = {}, max_output_bytes: bytes = 1_048_576 } = parameters;
  if ((argv === undefined) === (shell === undefined)) throw new TypeError('give either `argv` or `shell`');
  const words = typeof shell === 'string' ? ['/bin/sh', '-c', shell] : argv;
  if (!isStrings(words) || words[0] === undefined || words[0] === '') {
    throw new TypeError('`argv` must be a list of words that starts with a program');
  }
  const expected = Array.isArray(exit) ? exit : [exit];
  if (!isNumbers(expected) || expected.length === 0) throw new TypeError('`expect_exit` must be exit codes');
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MAX_TIMEOUT_SECONDS)) {
    throw new TypeError(`\`timeout_seconds\` must be above 0 and at most ${MAX_TIMEOUT_SECONDS}`);
  }
  if (typeof bytes !== 'number' || !(bytes >= 1))
    throw new TypeError('`max_output_bytes` must be at least 1');
  if (typeof cwd !== 'string') throw new TypeError('`cwd` must be a folder');
  if (matches !== null && typeof matches !== 'string') throw new TypeError('`stdout_matches` must be a text');
  if (!isTexts(env)) throw new TypeError('`env` must map names to texts');
  const [program, ...rest] = words as [string, ...string[]];
  const text = typeof shell === 'string' ? shell : words.map(quotedWord).join(' ');
  return {
    argv: [program, ...rest],
    text: text.length > 200 ? `${text.slice(0, 200)}…` : text,
    cwd,
    timeoutMs: seconds * 1000,
    expected,
    stdoutMatches: matches,
    env,
    maxOutputBytes: bytes,
  };
}

function judge(order: Order, { how, stdout, tail, heldOpen }: Ended, signal: AbortSignal): CheckAnswer {
  const refuse = (what: string): CheckAnswer => ({
    passed: false,
    reason: `\`${order.text}\` ${what}${ending(tail)}`,
  });
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
      return refuse(`printed more than ${order.maxOutputBytes} bytes and was killed`);
    case 'not_started':
      return refuse(whyNotStarted(how.code, order.argv[0]));
    case 'killed':
      return refuse(`was killed by ${how.signal}`);
    case 'exited': {
      if (!order.expected.includes(how.code)) {
        return refuse(`exited with ${how.code}, expected ${order.expected.join(' or ')}`);
      }
      if (order.stdoutMatches !== null && !stdout.includes(order.stdoutMatches)) {
        return refuse(`exited with ${how.code}, but did not print \`${order.stdoutMatches}\``);
      }
      // What is asked of the output is asked of what the command itself printed.
      if (order.stdoutMatches !== null && heldOpen) {
        return refuse(
          `exited with ${how.code} while a process it had started could still print in its place; wait for that process, or give it an output of its own`,
        );
      }
      return { passed: true, reason: `\`${order.text}\` exited with ${how.code}` };
    }
  }
}

function whyNotStarted(code: string, program: string): string {
  if (code === 'ENOENT')
    return `could not be started: there is no program \`${program}\`; a human installs it, or corrects the workflow`;
  if (code === 'EACCES') return `could not be started: \`${program}\` is not executable`;
  return `could not be started: ${reasonOf({ code })}`;
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

function isStrings(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isNumbers(value: readonly Json[]): value is readonly number[] {
  return value.every((item) => typeof item === 'number');
}

function isTexts(value: Json): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string');
}

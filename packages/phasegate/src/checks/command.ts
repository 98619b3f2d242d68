import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import type { CheckAnswer, CheckImplementation } from '../runtime/ports.ts';
import { cut, type Exited, HELD_OPEN, type Order, runOrder, textOf } from './runOrder.ts';
import { DEPENDENCIES, VERIFIER } from './verifyParameters.ts';

/**
 * Runs a command and judges how it ended. `observed` in the workspace, in which the agent writes; `verified` in a room of
 * the engine's own.
 */
export const command: CheckImplementation = {
  name: 'command',
  summary: 'a command, run by the engine in the workspace, ends as expected',
  class: 'verified',
  verifiable: true,
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
      verifier: VERIFIER,
      dependencies: DEPENDENCIES,
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
  async run(input) {
    const order = orderFrom(input.with);
    const outcome = await runOrder(order, input);
    if (outcome.kind === 'answered') return outcome.answer;
    return { ...judge(order, outcome), ran: [outcome.ran] };
  },
};

interface CommandOrder extends Order {
  readonly expected: readonly number[];
  readonly stdoutMatches: string | null;
}

const MAX_TIMEOUT_SECONDS = 3600;

/** Reads the parameters. A definition was checked against the schema above; a value that slipped by it throws here. */
function orderFrom(parameters: JsonObject): CommandOrder {
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
  return {
    argv: [program, ...rest],
    text: typeof shell === 'string' ? cut(shell) : textOf(words),
    cwd,
    timeoutMs: seconds * 1000,
    expected,
    stdoutMatches: matches,
    env,
    maxOutputBytes: bytes,
  };
}

function judge(order: CommandOrder, { code, stdout, heldOpen, refuse }: Exited): CheckAnswer {
  if (!order.expected.includes(code)) {
    return refuse(`exited with ${code}, expected ${order.expected.join(' or ')}`);
  }
  if (order.stdoutMatches !== null && !stdout.includes(order.stdoutMatches)) {
    return refuse(`exited with ${code}, but did not print \`${order.stdoutMatches}\``);
  }
  // What is asked of the output is asked of what the command itself printed.
  if (order.stdoutMatches !== null && heldOpen) return refuse(`exited with ${code} ${HELD_OPEN}`);
  return { passed: true, reason: `\`${order.text}\` exited with ${code}` };
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

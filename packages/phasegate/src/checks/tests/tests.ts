import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import type { CheckAnswer, CheckImplementation, CheckInput } from '../../runtime/ports.ts';
import { HELD_OPEN, type Order, runOrder, textOf } from '../runOrder.ts';
import { type Expectation, judgeReport } from './judgeReport.ts';
import { FORMATS, type ReportFormat, readReport } from './readReport.ts';

/**
 * Runs the tests and reads the report that their runner makes for machines: red and green are what tests said, and not
 * how a program ended. `observed` and not `verified`: the runner is the one of the workspace, in which the agent writes.
 */
export const tests: CheckImplementation = {
  name: 'tests',
  summary: 'tests, run by the engine in the workspace, fail or pass as their report for machines says',
  class: 'observed',
  reads: 'workspace',
  parameters: {
    type: 'object',
    additionalProperties: false,
    required: ['argv', 'expect'],
    properties: {
      argv: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', description: 'One word; no shell reads it' },
        description:
          'The test runner with a reporter for machines. `{report}` in a word is where the report goes, if the runner wants a file',
      },
      expect: {
        enum: ['red', 'green'],
        description:
          '`red`: at least one test fails at an assertion; `green`: tests pass and none fails. Never met by a run without tests, by skipped tests alone, or by a broken build',
      },
      format: {
        enum: [...FORMATS],
        description:
          'How the report is written: `jest` (also Vitest), `junit` (also pytest), `tap` (also `node --test`) or `go`; recognised where it is left out',
      },
      among: {
        type: 'array',
        items: { type: 'string', minLength: 1, description: 'A name, or the end of one' },
        description: 'Tests that must be among the failing (`red`) or the passing (`green`)',
      },
      allow_skipped: {
        type: 'boolean',
        description: 'Whether a green run may skip some tests; false by default',
      },
      canary: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', description: 'One word; no shell reads it' },
        description:
          'A run of a test that must fail, by the same runner and with the same modules: if it passes, the runner or its assertions were changed',
      },
      cwd: { type: 'string', minLength: 1, description: 'Folder to run in, inside the workspace' },
      timeout_seconds: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 3600,
        description: 'Seconds after which the runner and all it started are killed; 300 by default',
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
        description: 'Output after which the runner is killed; 16777216 by default',
      },
    },
  },
  async run(input) {
    const { order, canary, asked, format } = askedFrom(input.with);
    if (canary !== null) {
      const red = { expect: 'red', among: [], skipped: true } as const;
      const answer = await tried({ order: canary, asked: red, format }, input);
      if (!answer.passed) {
        return {
          passed: false,
          reason: `the test that must fail did not, so the runner cannot be believed: ${answer.reason}`,
        };
      }
    }
    return tried({ order, asked, format }, input);
  },
};

interface Asked {
  readonly order: Order;
  readonly asked: Expectation;
  readonly format: ReportFormat | null;
}

async function tried({ order, asked, format }: Asked, input: CheckInput): Promise<CheckAnswer> {
  const outcome = await runOrder(order, input);
  if (outcome.kind === 'answered') return outcome.answer;
  const { code, stdout, heldOpen, refuse } = outcome;
  if (heldOpen) return refuse(`exited with ${code} ${HELD_OPEN}`);
  const read = await readReport(stdout, format);
  if (!read.ok) return refuse(`exited with ${code}, and ${read.problem}`);
  const { passed, what } = judgeReport(read.report, code, asked);
  return passed ? { passed, reason: `\`${order.text}\` ${what}` } : refuse(what);
}

/** Reads the parameters. A definition was checked against the schema above; a value that slipped by it throws here. */
function askedFrom(parameters: JsonObject): Asked & { readonly canary: Order | null } {
  const {
    argv,
    canary = null,
    expect,
    format = null,
    among = [],
    allow_skipped: skipped = false,
  } = parameters;
  const {
    cwd = '.',
    timeout_seconds: seconds = 300,
    env = {},
    max_output_bytes: bytes = 16_777_216,
  } = parameters;
  if (expect !== 'red' && expect !== 'green') throw new TypeError('`expect` must be `red` or `green`');
  if (format !== null && !FORMATS.includes(format as ReportFormat))
    throw new TypeError('`format` is unknown');
  if (!isWords(among) || typeof skipped !== 'boolean') throw new TypeError('`among` must be a list of names');
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= 3600)) {
    throw new TypeError('`timeout_seconds` must be above 0 and at most 3600');
  }
  if (typeof bytes !== 'number' || !(bytes >= 1))
    throw new TypeError('`max_output_bytes` must be at least 1');
  if (typeof cwd !== 'string') throw new TypeError('`cwd` must be a folder');
  if (!isJsonObject(env)) throw new TypeError('`env` must map names to texts');
  const around = { cwd, timeoutMs: seconds * 1000, env: env as Order['env'], maxOutputBytes: bytes };
  return {
    order: { ...around, ...wordsOf(argv) },
    canary: canary === null ? null : { ...around, ...wordsOf(canary) },
    asked: { expect, among, skipped },
    format: format as ReportFormat | null,
  };
}

/** The report goes to standard output, which nobody else can have written to before the runner began. */
function wordsOf(words: Json | undefined): Pick<Order, 'argv' | 'text'> {
  if (!isWords(words) || words[0] === undefined || words[0] === '') {
    throw new TypeError('`argv` must be a list of words that starts with a program');
  }
  const [program, ...rest] = words.map((word) => word.replaceAll('{report}', '/dev/stdout'));
  return { argv: [program as string, ...rest], text: textOf(words) };
}

function isWords(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

import type { JsonObject } from '@phasegate/core';
import { DEPENDENCIES, VERIFIER } from '../verifyParameters.ts';
import { FORMATS } from './readReport.ts';

const WORDS = { type: 'string', description: 'One word; no shell reads it' } as const;
const GLOBS = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1, description: 'A glob' },
} as const;

/** JSON Schema of what a `tests` check is asked. */
export const TESTS_PARAMETERS: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['argv', 'expect'],
  properties: {
    argv: {
      type: 'array',
      minItems: 1,
      items: WORDS,
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
    expected: {
      type: 'array',
      items: { type: 'string', minLength: 1, description: 'A name, or the end of one' },
      description: 'Tests that must be in the report and not skipped, whether they fail or pass',
    },
    changed: {
      ...GLOBS,
      description:
        'Test files: each that was written in this phase must hold a test that fails (`red`) or passes (`green`), and there must be one',
    },
    freeze: {
      ...GLOBS,
      description: 'Files, such as the tests, to which a later check with `unchanged` is held',
    },
    unchanged: {
      oneOf: [{ type: 'string', minLength: 1 }, { type: 'integer' }],
      description:
        'The phase whose check froze files: each must be as it was then, and none may have been added',
    },
    allow_skipped: {
      type: 'boolean',
      description: 'Whether a green run may skip some tests; false by default',
    },
    canary: {
      oneOf: [
        { type: 'array', minItems: 1, items: WORDS },
        {
          type: 'object',
          additionalProperties: false,
          required: ['plant'],
          properties: { plant: { ...GLOBS, description: 'Test files' } },
        },
      ],
      description:
        'A test that must fail: if it does not, the runner or its assertions were changed. A run of one, by the same runner and with the same modules; or `plant`, the test files to which the engine adds one in its own copy, where it has one',
    },
    cwd: { type: 'string', minLength: 1, description: 'Folder to run in, inside the workspace' },
    verifier: VERIFIER,
    dependencies: DEPENDENCIES,
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
};

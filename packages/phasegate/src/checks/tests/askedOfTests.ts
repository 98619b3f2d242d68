import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { type Order, textOf } from '../runOrder.ts';
import type { Expectation } from './judgeReport.ts';
import { FORMATS, type ReportFormat } from './readReport.ts';

/** What a `tests` check is asked. */
export interface AskedOfTests {
  readonly order: Order;
  readonly asked: Expectation;
  readonly format: ReportFormat | null;
  /** A run of its own that must fail; globs of the test files in which one is planted; or none. */
  readonly canary: Order | { readonly plant: readonly string[] } | null;
  /** Test files that, where they changed in the phase, must be among the failing or passing. */
  readonly changed: readonly string[];
  /** Files that later phases are held to. */
  readonly freeze: readonly string[];
  /** The phase whose frozen files must be as they were. */
  readonly unchanged: string | number | null;
}

/** Reads the parameters. A definition was checked against the schema; a value that slipped by it throws here. */
export function askedOfTests(parameters: JsonObject): AskedOfTests {
  const { argv, canary = null, expect, format = null, among = [], expected = [] } = parameters;
  const { allow_skipped: skipped = false, changed = [], freeze = [], unchanged = null } = parameters;
  if (expect !== 'red' && expect !== 'green') throw new TypeError('`expect` must be `red` or `green`');
  if (format !== null && !FORMATS.includes(format as ReportFormat))
    throw new TypeError('`format` is unknown');
  for (const [name, list] of Object.entries({ among, expected, changed, freeze }))
    if (!isWords(list)) throw new TypeError(`\`${name}\` must be a list of texts`);
  if (typeof skipped !== 'boolean') throw new TypeError('`allow_skipped` must be true or false');
  if (unchanged !== null && typeof unchanged !== 'string' && typeof unchanged !== 'number')
    throw new TypeError('`unchanged` must be a phase');
  const around = aroundOf(parameters);
  const lists = { among, expected, changed, freeze } as Record<string, readonly string[]>;
  return {
    order: { ...around, ...wordsOf(argv) },
    canary: canaryOf(canary, around),
    asked: { expect, skipped, among: lists.among ?? [], expected: lists.expected ?? [] },
    format: format as ReportFormat | null,
    changed: lists.changed ?? [],
    freeze: lists.freeze ?? [],
    unchanged,
  };
}

type Around = Omit<Order, 'argv' | 'text'>;

function aroundOf({
  cwd = '.',
  timeout_seconds: seconds = 300,
  env = {},
  max_output_bytes: bytes = 16_777_216,
}: JsonObject): Around {
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= 3600))
    throw new TypeError('`timeout_seconds` must be above 0 and at most 3600');
  if (typeof bytes !== 'number' || !(bytes >= 1))
    throw new TypeError('`max_output_bytes` must be at least 1');
  if (typeof cwd !== 'string') throw new TypeError('`cwd` must be a folder');
  if (!isJsonObject(env)) throw new TypeError('`env` must map names to texts');
  return { cwd, timeoutMs: seconds * 1000, env: env as Order['env'], maxOutputBytes: bytes };
}

function canaryOf(canary: Json, around: Around): AskedOfTests['canary'] {
  if (canary === null) return null;
  if (!isJsonObject(canary)) return { ...around, ...wordsOf(canary) };
  if (!isWords(canary.plant) || canary.plant.length === 0)
    throw new TypeError('`canary.plant` must be a list of globs');
  return { plant: canary.plant };
}

function wordsOf(words: Json | undefined): Pick<Order, 'argv' | 'text'> {
  if (!isWords(words) || words[0] === undefined || words[0] === '') {
    throw new TypeError('`argv` must be a list of words that starts with a program');
  }
  const [program, ...rest] = words;
  return { argv: [program, ...rest], text: textOf(words) };
}

function isWords(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

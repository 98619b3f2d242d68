import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { createTurns } from '../limits/turns.ts';
import type { ToolContext, ToolImplementation } from '../runtime/ports.ts';
import { findBeneath } from '../workspace/openBeneath.ts';
import { PathRefused } from '../workspace/pathRefused.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { walkBeneath } from '../workspace/walkBeneath.ts';
import { defineTool } from './defineTool.ts';
import { type LineSearch, plainSearch, regexSearch } from './lineSearch.ts';
import { everythingBelow, MAX_LOOKED_AT, matcherOf } from './listFiles.ts';
import { GLOB, PATH } from './schemas.ts';

/** Finds lines in files of the workspace. */
export const grep: ToolImplementation = defineTool({
  name: 'grep',
  description: 'Finds lines that hold a text, or match a regular expression where `regex` is true',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['pattern'],
    properties: {
      pattern: { type: 'string', minLength: 1, maxLength: 1000, description: 'Text to find in a line' },
      regex: { type: 'boolean', description: 'Whether `pattern` is a JavaScript regular expression' },
      ignore_case: { type: 'boolean' },
      path: { ...PATH, description: 'File or folder, relative to the workspace; all of it by default' },
      glob: GLOB,
      limit: { type: 'integer', minimum: 1, maximum: 2000, description: 'Most lines; 200 by default' },
    },
  },
  judged({ path }, workspace) {
    const normal = typeof path === 'string' ? relativePath(path) : null;
    if (typeof path !== 'string' || normal === null || normal === '') return { path: everythingBelow(path) };
    // A file is judged as itself. Should it be a folder by the time it is read, each file in it is judged anew.
    const stats = lstatSync(join(workspace, normal), { throwIfNoEntry: false });
    return { path: stats?.isDirectory() === true ? everythingBelow(path) : path };
  },
  async run(input, context) {
    const { signal, agent = '' } = context;
    const end = await turns.take(agent);
    try {
      signal.throwIfAborted();
      return { ok: true, output: await searchBy(input, context, signal) };
    } finally {
      end();
    }
  },
});

/** Of one agent at a time; an expression is searched for in a thread of its own. */
const turns = createTurns({ what: 'searches', atOnce: 2, waiting: 64 });

async function searchBy(input: JsonObject, context: ToolContext, signal: AbortSignal): Promise<JsonObject> {
  const ignoreCase = input.ignore_case === true;
  const pattern = String(input.pattern);
  const search =
    input.regex === true
      ? regexSearch(pattern, ignoreCase, { timeoutMs: REGEX_MS, signal })
      : plainSearch(pattern, ignoreCase);
  try {
    return await searchAll(input, search, context);
  } finally {
    await search.close();
  }
}

const REGEX_MS = 10_000;
const MAX_FILE_BYTES = 2 * 1024 * 1024;
/** How much text one call reads. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

async function searchAll(input: JsonObject, search: LineSearch, context: ToolContext): Promise<JsonObject> {
  const most = typeof input.limit === 'number' ? input.limit : 200;
  const inGlob = typeof input.glob === 'string' ? matcherOf(input.glob) : () => true;
  const matches: JsonObject[] = [];
  const skipped: string[] = [];
  let read = 0;
  const done = (truncated: boolean) => ({ matches, skipped: skipped.slice(0, 100), truncated });
  const files = filesOf(String(input.path ?? '.'), context);
  for (;;) {
    const { value, done: ended } = await files.next();
    if (ended === true) return done(value === false);
    if (!inGlob(value) || !context.mayRead(value)) continue;
    const text = await textOf(context.workspace, value);
    if (text === null) {
      skipped.push(value);
      continue;
    }
    read += text.length;
    if (read > MAX_READ_BYTES) return done(true);
    const left = most - matches.length;
    const found = await search.find(text, left + 1);
    matches.push(...found.slice(0, left).map((line) => ({ path: value, ...line })));
    if (found.length > left) return done(true);
  }
}

/** The files to look at; gives `false` at its end when there were more. */
async function* filesOf(given: string, { workspace, signal }: ToolContext): AsyncGenerator<string, boolean> {
  const path = relativePath(given);
  if (path !== null && (await findBeneath(workspace, path)).kind === 'file') {
    yield path;
    return true;
  }
  const walk = walkBeneath({
    root: workspace,
    from: given,
    depth: Number.POSITIVE_INFINITY,
    limit: MAX_LOOKED_AT,
    signal,
  });
  for (;;) {
    const { value, done } = await walk.next();
    if (done === true) return value;
    if (value.kind === 'file') yield value.path;
  }
}

/** A file as text; null for one that is not, is too large, or went away. */
async function textOf(root: string, path: string): Promise<string | null> {
  try {
    const { content } = await readBeneath(root, path, MAX_FILE_BYTES);
    return content.includes(0) ? null : content.toString();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (error instanceof PathRefused || code === 'EACCES' || code === 'ENOENT') return null;
    throw error;
  }
}

import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '@phasegate/core';
import { LARGEST_FILE } from '@phasegate/core/contract';
import type { ToolContext, ToolImplementation } from '../runtime/ports.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { defineTool, failureOf, ToolFailure, textsOf } from './defineTool.ts';
import { PATH, PATHS } from './schemas.ts';

/** Reads files of the workspace, whole or some lines of them. */
export const readFiles: ToolImplementation = defineTool({
  name: 'read_files',
  description: 'Reads files of the workspace: all of them, or `limit` lines from line `offset` on',
  input: {
    type: 'object',
    additionalProperties: false,
    oneOf: [{ required: ['path'] }, { required: ['paths'] }],
    properties: {
      path: PATH,
      paths: PATHS,
      offset: { type: 'integer', minimum: 1, description: 'First line, counted from 1' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines' },
      max_bytes: {
        type: 'integer',
        minimum: 1,
        maximum: 1_048_576,
        description: 'Most bytes in all; 262144 by default',
      },
      encoding: {
        enum: ['utf8', 'base64'],
        description: '`base64` for files that are not text; then there are no lines',
      },
    },
  },
  async run(input, context) {
    const reading = readingOf(input);
    if (typeof input.path === 'string') {
      return { ok: true, output: await read(context, input.path, reading) };
    }
    const files: JsonObject[] = [];
    let left = reading.maxBytes;
    for (const path of textsOf(input.paths)) {
      context.signal.throwIfAborted();
      const file = await readOrFail(context, path, { ...reading, maxBytes: left });
      if (typeof file.content === 'string') left = Math.max(0, left - Buffer.byteLength(file.content));
      files.push(file);
    }
    const ok = files.every((file) => file.error === undefined);
    return { ok, output: { files, truncated: files.some((file) => file.truncated === true) } };
  },
});

const DEFAULT_BYTES = 262_144;

interface Reading {
  readonly offset: number;
  readonly limit: number;
  readonly maxBytes: number;
  readonly encoding: 'utf8' | 'base64';
}

function readingOf({ offset, limit, encoding, max_bytes: bytes }: JsonObject): Reading {
  const whole = encoding === 'base64';
  if (whole && (offset !== undefined || limit !== undefined)) {
    const message = '`base64` has no lines, so it goes with neither `offset` nor `limit`';
    throw new ToolFailure('input_invalid', message);
  }
  return {
    offset: typeof offset === 'number' ? offset : 1,
    limit: typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY,
    maxBytes: typeof bytes === 'number' ? bytes : DEFAULT_BYTES,
    encoding: whole ? 'base64' : 'utf8',
  };
}

async function readOrFail(context: ToolContext, path: string, reading: Reading): Promise<JsonObject> {
  try {
    return await read(context, path, reading);
  } catch (error) {
    const known = failureOf(error);
    if (known === null) throw error;
    return { path, ...known };
  }
}

async function read(context: ToolContext, given: string, reading: Reading): Promise<JsonObject> {
  const { path, content } = await readBeneath(context.workspace, given, LARGEST_FILE);
  if (!context.mayRead(path)) {
    throw new ToolFailure('not_shown', `\`${path}\` is not shown in this phase; work by its instructions`);
  }
  const size = content.length;
  if (reading.encoding === 'base64') {
    const kept = content.subarray(0, Math.floor((reading.maxBytes * 3) / 4));
    return {
      path,
      content: kept.toString('base64'),
      encoding: 'base64',
      size,
      truncated: kept.length < size,
    };
  }
  demandText(path, content);
  const { lines, start, end } = linesOf(content, reading);
  const asked = content.subarray(start, end);
  const kept = wholeCharacters(asked, reading.maxBytes);
  const truncated = kept.length < asked.length || reading.offset - 1 + reading.limit < lines;
  return { path, content: kept.toString(), encoding: 'utf8', size, lines, truncated };
}

/** How many lines there are, and where those that are asked for begin and end. A file of line ends alone has millions. */
function linesOf(content: Buffer, { offset, limit }: Reading): { lines: number; start: number; end: number } {
  let [lines, start, end] = [1, offset > 1 ? content.length : 0, content.length];
  for (let at = 0; at < content.length - 1; at += 1) {
    if (content[at] !== LINE_END) continue;
    lines += 1;
    if (lines === offset) start = at + 1;
    if (lines === offset + limit) end = at + 1;
  }
  return { lines, start, end };
}

const LINE_END = 0x0a;

function demandText(path: string, content: Buffer): void {
  if (isUtf8(content) && !content.includes(0)) return;
  throw new ToolFailure('not_text', `\`${path}\` is not UTF-8 text; read it with \`encoding\`: \`base64\``);
}

/** The beginning of a text, cut between two characters. */
function wholeCharacters(text: Buffer, limit: number): Buffer {
  if (text.length <= limit) return text;
  let end = limit;
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return text.subarray(0, end);
}

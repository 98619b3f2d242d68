import { createReadStream, readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { isJsonObject, type Json, type JsonObject, PhasegateError } from '@phasegate/core';
import { EVIDENCE_LIMIT, kindOf } from '@phasegate/core/contract';
import { jsonProblem, reasonOf } from '@phasegate/core/model';
import { readLimited } from './readLimited.ts';

/** Evidence: a JSON object from a file, or from stdin with `-`. */
export async function readEvidence(source: string, stdin: () => Readable): Promise<JsonObject> {
  const value = await readJson(source, stdin);
  if (isJsonObject(value)) return value;
  throw unreadable(`${nameOf(source)} holds ${kindOf(value)}, and evidence is a JSON object`);
}

/** One JSON value from a file, or from stdin with `-`. */
export async function readJson(source: string, stdin: () => Readable): Promise<Json> {
  const name = nameOf(source);
  const bytes = await readSource(source, stdin).catch((error: unknown) => {
    throw unreadable(`${name} cannot be read: ${reasonOf(error)}`, error);
  });
  if (bytes === undefined) throw unreadable(`${name} is over the limit of 1 MB`);
  const text = decode(bytes, name);
  try {
    const value = JSON.parse(text) as Json;
    const unfit = jsonProblem(value);
    if (unfit !== null) throw unreadable(`${name} ${unfit}`);
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unreadable(`${name} is not JSON${placeOf(error, text)}: ${error.message}`, error);
  }
}

/** A plain file is read at once: a stream would cost a short-lived process more than all its reading. */
async function readSource(source: string, stdin: () => Readable): Promise<Buffer | undefined> {
  if (source === '-') return readLimited(stdin(), EVIDENCE_LIMIT);
  const found = statSync(source);
  if (!found.isFile()) return readLimited(createReadStream(source), EVIDENCE_LIMIT);
  return found.size > EVIDENCE_LIMIT ? undefined : readFileSync(source);
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable(`${name} is not UTF-8 text`, error);
  }
}

/** Line and column, where the parser says them or the text simply ends too early. */
function placeOf(error: SyntaxError, text: string): string {
  const place = /\(line (\d+) column (\d+)\)/.exec(error.message);
  if (place !== null) return ` at line ${place[1]}, column ${place[2]}`;
  const position = /at position (\d+)/.exec(error.message)?.[1];
  if (position === undefined && !error.message.includes('end of JSON')) return '';
  const lines = text.slice(0, position === undefined ? text.length : Number(position)).split('\n');
  return ` at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function nameOf(source: string): string {
  return source === '-' ? 'stdin' : `\`${source}\``;
}

function unreadable(message: string, cause?: unknown): PhasegateError {
  return new PhasegateError('evidence_unreadable', message, cause === undefined ? {} : { cause });
}

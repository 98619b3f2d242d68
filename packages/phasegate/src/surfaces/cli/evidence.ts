import { createReadStream, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { isJsonObject, type Json, type JsonObject, PhasegateError } from '@phasegate/core';
import { EVIDENCE_LIMIT, kindOf } from '@phasegate/core/contract';
import { jsonFault, jsonProblem, Lines, reasonOf } from '@phasegate/core/model';
import { hasSeveralNames } from '../../files/secondName.ts';
import { readLimited } from './readLimited.ts';

/** Evidence: a JSON object from a file, or from stdin with `-`. */
export async function readEvidence(source: string, stdin: () => Readable): Promise<JsonObject> {
  const value = await readJson(source, stdin);
  if (isJsonObject(value)) return value;
  throw unreadable(`${nameOf(source)} holds ${kindOf(value)}, and evidence is a JSON object`);
}

/** Stands in a skeleton of evidence where a value must be put. */
export const REPLACE = 'REPLACE ME';

/** Where the skeleton's words still stand: nobody's evidence, whatever a schema says to them. */
export function unreplaced(value: Json, path = ''): readonly string[] {
  if (typeof value === 'string') return value.startsWith(REPLACE) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const place = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    return key === REPLACE ? [place] : unreplaced(part, place);
  });
}

/** One JSON value from a file, or from stdin with `-`. */
export async function readJson(source: string, stdin: () => Readable): Promise<Json> {
  const name = nameOf(source);
  if (source !== '-' && isOfState(source))
    throw unreadable(`${name} is what Phasegate keeps for itself, and nobody hands that in`);
  // It may be one of those by another name, and of which project nobody can say.
  if (source !== '-' && hasSeveralNames(realOr(source)))
    throw unreadable(`${name} has several names (hard links): make a copy of it, and hand that in`);
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
    const { offset, message } = jsonFault(text) ?? { offset: 0, message: 'it cannot be parsed' };
    const { line, column } = new Lines(text).at(offset);
    throw unreadable(`${name} is not JSON at line ${line}, column ${column}: ${message}`, error);
  }
}

/** A plain file is read at once: a stream would cost a short-lived process more than all its reading. */
async function readSource(source: string, stdin: () => Readable): Promise<Buffer | undefined> {
  if (source === '-') return readLimited(stdin(), EVIDENCE_LIMIT);
  const found = statSync(source);
  if (!found.isFile()) return readLimited(createReadStream(source), EVIDENCE_LIMIT);
  return found.size > EVIDENCE_LIMIT ? undefined : readFileSync(source);
}

/**
 * Whether a file is in the state directory of any project: keys, database, backups. What is handed in is shown again, and
 * the one who names the file may not be allowed to read it.
 */
function isOfState(source: string): boolean {
  const real = realOr(source);
  const has = (folder: string, name: string) => existsSync(join(folder, name));
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    if (has(folder, 'keys.json') && (has(folder, 'state.db') || has(folder, 'made'))) return true;
    if (folder === dirname(folder)) return false;
  }
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable(`${name} is not UTF-8 text`, error);
  }
}

function nameOf(source: string): string {
  return source === '-' ? 'stdin' : `\`${source}\``;
}

function unreadable(message: string, cause?: unknown): PhasegateError {
  return new PhasegateError('evidence_unreadable', message, cause === undefined ? {} : { cause });
}

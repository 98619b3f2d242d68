import { isJsonObject, type Json } from '../../json.ts';
import { kindOf } from '../wording.ts';
import type { SchemaDefect } from './surveySchema.ts';

/** Why a schema is too large, too deep or no JSON, or null. Stops as soon as it is, whatever is left. */
export function sizeProblem(schema: Json): SchemaDefect | null {
  return new Measure().visit(schema, []);
}

const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 64;

class Measure {
  /** The length of the canonical text so far. Shared parts count each time, as they would in the text. */
  #length = 0;

  visit(value: Json, path: readonly (string | number)[]): SchemaDefect | null {
    if (path.length > MAX_DEPTH) return { path, message: `is nested more than ${MAX_DEPTH} deep` };
    const isPart = Array.isArray(value) || isJsonObject(value);
    if (!isPart && !isPlain(value)) return { path, message: `contains ${kindOf(value)}` };
    this.#length += isPart ? 2 : JSON.stringify(value).length;
    if (this.#length > MAX_TEXT) return { path: [], message: `is longer than ${MAX_TEXT / 1024} KB` };
    if (!isPart) return null;
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value)) {
      this.#length += isList ? 1 : JSON.stringify(key).length + 2;
      const problem = this.visit(member as Json, [...path, isList ? Number(key) : key]);
      if (problem !== null) return problem;
    }
    return null;
  }
}

function isPlain(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'boolean' || typeof value === 'string';
}

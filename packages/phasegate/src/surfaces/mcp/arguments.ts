import { isJsonObject, type Json, type JsonObject, own, PhasegateError, type PhaseId } from '@phasegate/core';
import { kindOf } from '@phasegate/core/contract';
import { didYouMean, jsonProblem } from '@phasegate/core/model';
import type { McpTool } from './tool.ts';

/** Longest name or number of a phase worth repeating in an answer. */
const LONGEST_ECHO = 200;
/** No answer grows with what was sent. */
const MOST_NAMED = 20;

/** An argument nobody reads is a mistake of the caller's, who believes that it counts. */
export function demandKnown(args: JsonObject, { name, input }: Pick<McpTool, 'name' | 'input'>): void {
  const known = Object.keys(input);
  const unknown = Object.keys(args).filter((word) => !known.includes(word));
  if (unknown.length === 0) return;
  // The command has an option of that name, so agents look for it here.
  if (name === 'start_workflow' && unknown.includes('worktree'))
    throw wrongCall(
      '`start_workflow` has no argument `worktree`: this server works in its own folder',
      'start without it, or have `phasegate start WORKFLOW --worktree` run in a shell and work in the folder it names',
    );
  const shown = unknown.slice(0, MOST_NAMED);
  const more = unknown.length > shown.length ? ` and ${unknown.length - shown.length} more` : '';
  const named = `${shown.map((word) => `\`${shortened(word)}\`${didYouMean(shortened(word), known)}`).join(', ')}${more}`;
  const list = known.length === 0 ? 'none' : known.map((word) => `\`${word}\``).join(', ');
  throw wrongCall(`\`${name}\` has no argument ${named}`, `its arguments: ${list}`);
}

/** An argument that must be there, as text. */
export function textArgument(args: JsonObject, name: string): string {
  const text = optionalText(args, name);
  if (text !== undefined) return text;
  throw wrongCall(`\`${name}\` is missing`);
}

/** An argument that may be there, as text; blank text counts as left out. */
export function optionalText(args: JsonObject, name: string): string | undefined {
  const value = own(args, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') throw wrongCall(`\`${name}\` must be text, got ${kindOf(value)}`);
  return value.trim() === '' ? undefined : value;
}

/** A phase as it was asked for; who reads it understands ids, numbers and names in any spelling. */
export function phaseArgument(args: JsonObject): PhaseId {
  const value = own(args, 'phase');
  if (value === undefined) throw wrongCall('`phase` is missing');
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return shortened(typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value));
}

/** A number that may arrive as text or as a float; undefined where it was left out. */
export function numberArgument(args: JsonObject, name: string): number | undefined {
  const value = own(args, name);
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw wrongCall(`\`${name}\` must be a number, got ${kindOf(value)}`);
}

/** A list of texts; one text is a list of its parts between commas. */
export function textsArgument(args: JsonObject, name: string): readonly string[] {
  const value = own(args, name);
  if (value === undefined || value === null) return [];
  const list = typeof value === 'string' ? (parsedList(value) ?? value.split(',')) : value;
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string' || typeof item === 'number')) {
    throw wrongCall(`\`${name}\` must be a list of texts, got ${kindOf(value)}`);
  }
  return list.map((item) => String(item).trim()).filter((item) => item !== '');
}

/** A JSON object, or the text of one. */
export function objectArgument(args: JsonObject, name: string): JsonObject {
  const value = own(args, name);
  if (value === undefined || value === null || value === '') return {};
  const object = typeof value === 'string' ? parsed(value) : value;
  const unfit = jsonProblem(object);
  if (unfit !== null) throw wrongCall(`\`${name}\` ${unfit}`);
  if (isJsonObject(object)) return object;
  throw wrongCall(`\`${name}\` must be a JSON object, or the text of one, got ${kindOf(value)}`);
}

/** A call that cannot be understood: the caller's fault, not the workflow's refusal. */
export function wrongCall(message: string, hint?: string): PhasegateError {
  return new PhasegateError('usage', message, hint === undefined ? {} : { hint });
}

function shortened(text: string): string {
  return text.length > LONGEST_ECHO ? `${text.slice(0, LONGEST_ECHO)}…` : text;
}

function parsedList(text: string): readonly Json[] | undefined {
  const value = parsed(text);
  return Array.isArray(value) ? value : undefined;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

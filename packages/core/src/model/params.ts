import { canonicalJson, type Json, type JsonObject } from '../json.ts';
import { didYouMean } from './suggest.ts';
import { kindOf } from './wording.ts';
import type { Param } from './workflow.ts';

/** The params a run starts with, defaults filled in, or every problem with them. */
export function readParams(
  params: Readonly<Record<string, Param>>,
  given: JsonObject,
):
  | { readonly ok: true; readonly values: JsonObject }
  | { readonly ok: false; readonly problems: readonly string[] } {
  const problems: string[] = [];
  // Made of entries, so that a param called `__proto__` is one.
  const values: [string, Json][] = [];
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(params, key));
  for (const key of unknown.slice(0, MOST_NAMED)) {
    const shown = key.length > LONGEST_NAME ? `${key.slice(0, LONGEST_NAME)}…` : key;
    const known = Object.keys(params);
    problems.push(`there is no param \`${shown}\`${didYouMean(shown, known) || listOf(known)}`);
  }
  // Refusals are kept, and no record grows with what was sent.
  if (unknown.length > MOST_NAMED)
    problems.push(`${unknown.length - MOST_NAMED} more names are not params either`);
  for (const [name, param] of Object.entries(params)) {
    const value = Object.hasOwn(given, name) ? given[name] : param.default;
    if (value === undefined) {
      if (param.required) problems.push(`param \`${name}\` is required${describe(param)}`);
      continue;
    }
    const problem = paramProblem(param, value);
    if (problem !== null) problems.push(`param \`${name}\` ${problem}`);
    else values.push([name, value]);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values: Object.fromEntries(values) };
}

const MOST_NAMED = 20;
const LONGEST_NAME = 200;

/** Why a value does not fit a param, or null. */
export function paramProblem(param: Param, value: Json): string | null {
  if (!hasType(param.type, value)) return `must be ${article(param.type)}, got ${kindOf(value)}`;
  const domain = param.domain;
  if (domain === null) return null;
  switch (domain.kind) {
    case 'choice_set':
      return domain.choices.some((choice) => canonicalJson(choice) === canonicalJson(value))
        ? null
        : `must be one of ${domain.choices.map((choice) => `\`${String(choice)}\``).join(', ')}`;
    case 'constant':
      return canonicalJson(domain.value) === canonicalJson(value)
        ? null
        : `must be \`${String(domain.value)}\``;
    case 'bounded_int':
      return inRange(value as number, domain.lo, domain.hi)
        ? null
        : `must be from ${domain.lo} to ${domain.hi}`;
    case 'range':
      return inRange(value as number, domain.min, domain.max)
        ? null
        : `must be ${domain.min === null ? '' : `at least ${domain.min}`}${domain.max === null ? '' : ` at most ${domain.max}`}`;
  }
}

function hasType(type: Param['type'], value: Json): boolean {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value);
    case 'list':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function inRange(value: number, low: number | null, high: number | null): boolean {
  return (low === null || value >= low) && (high === null || value <= high);
}

function describe(param: Param): string {
  return param.description === '' ? '' : ` (${param.description})`;
}

function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** The params there are, where no name is like the one that was given. */
function listOf(known: readonly string[]): string {
  if (known.length === 0) return ': the workflow has none';
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : '';
  return `: there is ${known
    .slice(0, MOST_NAMED)
    .map((name) => `\`${name}\``)
    .join(', ')}${more}`;
}

import type { Json } from '../../json.ts';
import { jsonEqual } from '../jsonEqual.ts';
import { listed, quoted, quotedList } from '../wording.ts';
import type { SchemaParts } from './schemaParts.ts';
import {
  type Check,
  complaints,
  fail,
  mergeSeen,
  nothingSeen,
  type Pass,
  type SchemaProblem,
  silent,
} from './schemaPass.ts';

/** The checks a schema has for values of every type. */
export function valueChecks(parts: SchemaParts): readonly Check[] {
  const { schema } = parts;
  const checks: Check[] = [];
  if (Array.isArray(schema.enum)) checks.push(enumCheck(schema.enum));
  if (Object.hasOwn(schema, 'const')) checks.push(constCheck(schema.const as Json));
  checks.push(...parts.many('allOf').values());
  const anyOf = [...parts.many('anyOf').values()];
  if (anyOf.length > 0) checks.push(anyOfCheck(anyOf));
  const oneOf = [...parts.many('oneOf').values()];
  if (oneOf.length > 0) checks.push(oneOfCheck(oneOf));
  const not = parts.one('not');
  if (not !== null) checks.push(notCheck(not));
  const condition = parts.one('if');
  if (condition !== null) checks.push(ifCheck(condition, parts.one('then'), parts.one('else')));
  return checks;
}

function enumCheck(values: readonly Json[]): Check {
  const plain = new Set<Json>(values.filter((value) => typeof value !== 'object' || value === null));
  const nested = values.filter((value) => typeof value === 'object' && value !== null);
  return (value, pass) => {
    if (plain.has(value) || nested.some((choice) => jsonEqual(choice, value))) return true;
    return fail(pass, () => `must be one of ${quotedList(values.map(textOf))}, got ${quoted(textOf(value))}`);
  };
}

function constCheck(expected: Json): Check {
  return (value, pass) =>
    jsonEqual(expected, value) ||
    fail(pass, () => `must be ${quoted(textOf(expected))}, got ${quoted(textOf(value))}`);
}

function anyOfCheck(choices: readonly Check[]): Check {
  const attempts = choices.map(silent);
  return (value, pass, seen) => {
    let ok = false;
    for (const attempt of attempts) {
      const found = seen === null ? null : nothingSeen();
      if (!attempt(value, pass, found)) continue;
      // Every choice that holds has looked at its keys, so one is not enough where that is asked.
      if (seen === null || found === null) return true;
      mergeSeen(seen, found);
      ok = true;
    }
    return ok || fail(pass, () => noneHolds(choices, value, pass));
  };
}

function oneOfCheck(choices: readonly Check[]): Check {
  const attempts = choices.map(silent);
  return (value, pass, seen) => {
    const holding: number[] = [];
    for (const [index, attempt] of attempts.entries()) {
      const found = seen === null ? null : nothingSeen();
      if (!attempt(value, pass, found)) continue;
      holding.push(index + 1);
      if (seen !== null && found !== null) mergeSeen(seen, found);
    }
    if (holding.length === 1) return true;
    if (holding.length === 0) return fail(pass, () => noneHolds(choices, value, pass));
    const which = listed(holding.map(String), 'and');
    return fail(pass, () => `must have exactly one of ${choices.length} forms, has ${which}`);
  };
}

function notCheck(not: Check): Check {
  const attempt = silent(not);
  return (value, pass) =>
    !attempt(value, pass, null) ||
    fail(pass, () => `must not have the form that is ruled out, got ${quoted(textOf(value))}`);
}

function ifCheck(condition: Check, then: Check | null, otherwise: Check | null): Check {
  const attempt = silent(condition);
  return (value, pass, seen) => {
    const found = seen === null ? null : nothingSeen();
    const holds = attempt(value, pass, found);
    if (holds && seen !== null && found !== null) mergeSeen(seen, found);
    const branch = holds ? then : otherwise;
    return branch === null || branch(value, pass, seen);
  };
}

/** Names the form the value comes nearest to, since that is most likely the one that was meant. */
function noneHolds(choices: readonly Check[], value: Json, pass: Pass): string {
  let nearest: readonly SchemaProblem[] = [];
  for (const choice of choices) {
    const problems = complaints(choice, value, pass);
    if (nearest.length === 0 || problems.length < nearest.length) nearest = problems;
  }
  const [first] = nearest;
  const why =
    first === undefined
      ? ''
      : `; the nearest: ${first.path === '' ? '' : `${quoted(first.path)} `}${first.message}`;
  return `has none of the ${choices.length} allowed forms${why}`;
}

/** A value as text, without writing out more than a message can show. A string stands bare where that is clear. */
function textOf(value: Json): string {
  if (typeof value === 'string')
    return /^[\p{L}_][^"]*$/u.test(value) && !CONSTANTS.has(value) ? value : shallow(value);
  if (typeof value !== 'object' || value === null) return shallow(value);
  const isList = Array.isArray(value);
  const members = isList ? Object.entries(value) : Object.entries(value).sort(byKey);
  const shown = members.slice(0, 5).map(([key, member]) => {
    return isList ? shallow(member as Json) : `${JSON.stringify(key)}:${shallow(member as Json)}`;
  });
  const text = `${shown.join(',')}${members.length > 5 ? ',…' : ''}`;
  return isList ? `[${text}]` : `{${text}}`;
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

const CONSTANTS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

function shallow(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[…]';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0 ? '{}' : '{…}';
  return JSON.stringify(value) ?? 'undefined';
}

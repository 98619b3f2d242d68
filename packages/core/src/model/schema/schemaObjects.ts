import type { Json, JsonObject } from '../../json.ts';
import { didYouMean } from '../suggest.ts';
import { quoted } from '../wording.ts';
import type { SchemaParts } from './schemaParts.ts';
import { type Check, complaints, fail, inside, type Pass } from './schemaPass.ts';
import { patternTest } from './schemaPattern.ts';

/** The checks a schema has for objects, but for `unevaluatedProperties`, which must come last. */
export function objectChecks(parts: SchemaParts): readonly Check<JsonObject>[] {
  const { required, dependentRequired, minProperties, maxProperties } = parts.schema;
  const checks: Check<JsonObject>[] = [];
  if (Array.isArray(required) && required.length > 0) checks.push(requiredCheck(required));
  if (typeof minProperties === 'number') {
    checks.push((value, pass) => {
      const count = Object.keys(value).length;
      return (
        count >= minProperties || fail(pass, () => `must have at least ${keys(minProperties)}, has ${count}`)
      );
    });
  }
  if (typeof maxProperties === 'number') {
    checks.push((value, pass) => {
      const count = Object.keys(value).length;
      return (
        count <= maxProperties || fail(pass, () => `must have at most ${keys(maxProperties)}, has ${count}`)
      );
    });
  }
  const dependents = (dependentRequired ?? {}) as JsonObject;
  for (const key of Object.keys(dependents).sort()) {
    checks.push(dependentCheck(key, dependents[key] as unknown as readonly string[]));
  }
  for (const [key, check] of parts.many('dependentSchemas')) {
    checks.push((value, pass, seen) => !Object.hasOwn(value, key) || check(value, pass, seen));
  }
  const members = membersCheck(parts);
  if (members !== null) checks.push(members);
  const names = parts.one('propertyNames');
  if (names !== null) checks.push(namesCheck(names));
  return checks;
}

/** Judges the keys nothing else has looked at. */
export function unevaluatedPropertiesCheck(parts: SchemaParts, check: Check): Check<JsonObject> {
  const enter = otherKey(parts, 'unevaluatedProperties', check);
  return (value, pass, seen) => {
    let ok = true;
    for (const key of seen?.allKeys ? [] : keysOf(value, pass)) {
      if (seen?.keys.has(key) || enter(value[key] as Json, key, pass)) continue;
      if (pass.problems === null) return false;
      ok = false;
    }
    if (seen !== null) seen.allKeys = true;
    return ok;
  };
}

function requiredCheck(required: readonly Json[]): Check<JsonObject> {
  const names = required as readonly string[];
  return (value, pass) => {
    let ok = true;
    for (const name of names) {
      if (Object.hasOwn(value, name) && value[name] !== undefined) continue;
      if (pass.problems === null) return false;
      ok = fail(pass, () => `is missing ${quoted(name)}`);
    }
    return ok;
  };
}

function dependentCheck(key: string, needed: readonly string[]): Check<JsonObject> {
  return (value, pass) => {
    if (!Object.hasOwn(value, key)) return true;
    const missing = needed.filter((name) => !Object.hasOwn(value, name));
    for (const name of missing) fail(pass, () => `is missing ${quoted(name)}, which ${quoted(key)} needs`);
    return missing.length === 0;
  };
}

type Enter = (member: Json, key: string, pass: Pass) => boolean;

function membersCheck(parts: SchemaParts): Check<JsonObject> | null {
  const named = new Map<string, Enter>();
  for (const [key, check] of parts.many('properties')) named.set(key, inside(check));
  const patterns = parts.many('patternProperties');
  const other = parts.one('additionalProperties');
  if (other === null && patterns.size === 0) return named.size === 0 ? null : namedCheck(named);
  const enterMatching = matching(patterns);
  const enterOther = other === null ? null : otherKey(parts, 'additionalProperties', other);
  return (value, pass, seen) => {
    let ok = true;
    for (const key of keysOf(value, pass)) {
      const member = value[key] as Json;
      const byName = named.get(key)?.(member, key, pass) ?? null;
      const byPattern = enterMatching(member, key, pass);
      const known = byName !== null || byPattern !== null;
      const byRest = known || enterOther === null ? null : enterOther(member, key, pass);
      if (known || byRest !== null) seen?.keys.add(key);
      if (byName !== false && byPattern !== false && byRest !== false) continue;
      if (pass.problems === null) return false;
      ok = false;
    }
    return ok;
  };
}

/** Judges a member by every pattern its key matches; null when it matches none. */
function matching(checks: ReadonlyMap<string, Check>): (...parameters: Parameters<Enter>) => boolean | null {
  if (checks.size === 0) return () => null;
  const patterns = [...checks].map(([source, check]) => [patternTest(source), inside(check)] as const);
  return (member, key, pass) => {
    let holds: boolean | null = null;
    for (const [matches, enter] of patterns) {
      if (matches(key, pass)) holds = enter(member, key, pass) && holds !== false;
    }
    return holds;
  };
}

/** The common case: it asks for the keys of the schema and need not list those of the value. */
function namedCheck(named: ReadonlyMap<string, Enter>): Check<JsonObject> {
  const entries = [...named];
  return (value, pass, seen) => {
    let ok = true;
    for (const [key, enter] of entries) {
      if (!Object.hasOwn(value, key)) continue;
      seen?.keys.add(key);
      if (enter(value[key] as Json, key, pass)) continue;
      if (pass.problems === null) return false;
      ok = false;
    }
    return ok;
  };
}

/** Where no other key may be, the object is at fault and not the member, and the likely key is named. */
function otherKey(parts: SchemaParts, keyword: string, check: Check): Enter {
  if (parts.schema[keyword] !== false) return inside(check);
  const known = [...parts.many('properties').keys()];
  return (_, key, pass) => fail(pass, () => `has an unknown key ${quoted(key)}${didYouMean(key, known)}`);
}

function namesCheck(check: Check): Check<JsonObject> {
  return (value, pass) => {
    let ok = true;
    for (const key of keysOf(value, pass)) {
      if (pass.problems === null) {
        if (!check(key, pass, null)) return false;
        continue;
      }
      for (const { message } of complaints(check, key, pass)) {
        ok = fail(pass, () => `has the key ${quoted(key)}, which ${message}`);
      }
    }
    return ok;
  };
}

/** In one order where problems are listed, however they were written; a silent walk need not sort. */
function keysOf(value: JsonObject, { problems }: Pass): readonly string[] {
  const names = Object.keys(value);
  return problems === null ? names : names.sort();
}

function keys(count: number): string {
  return count === 1 ? '1 key' : `${count} keys`;
}

import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { valueChecks } from '../schema/schemaChoices.ts';
import { KEYWORDS, TYPES } from '../schema/schemaKeywords.ts';
import { listChecks, unevaluatedItemsCheck } from '../schema/schemaLists.ts';
import { objectChecks, unevaluatedPropertiesCheck } from '../schema/schemaObjects.ts';
import type { SchemaParts } from '../schema/schemaParts.ts';
import { type Check, fail, mergeSeen, nothingSeen, pointerOf } from '../schema/schemaPass.ts';
import { numberChecks, stringChecks } from '../schema/schemaScalars.ts';
import type { Place, Survey } from '../schema/surveySchema.ts';
import { kindOf, listed } from '../wording.ts';

/** Makes one check of a schema without defects. */
export function buildChecks(survey: Survey): Check {
  const built = new Map<string, Check>();
  const at = (pointer: string): Check => {
    const check = built.get(pointer);
    if (check === undefined) throw new RangeError(`no schema was found at \`${pointer}\``);
    return check;
  };
  // Inner schemas were found after those around them, so backwards every part is there before it is needed. A
  // `$ref` may lead anywhere and is followed when it is used.
  for (const place of [...survey.places.values()].reverse()) {
    built.set(pointerOf(place.path), buildCheck(place, at));
  }
  return at('');
}

/** Enough for any honest value; a schema whose choices multiply would otherwise never end. */
const MAX_STEPS = 5_000_000;
const MAX_DEPTH = 500;

function buildCheck(place: Place, at: (pointer: string) => Check): Check {
  const { schema, ref } = place;
  if (schema === true) return () => true;
  if (schema === false) return (_, pass) => fail(pass, () => 'is not allowed');
  const parts = partsOf(schema, place.path, at);
  const checks: Check[] = [...byType(parts), ...valueChecks(parts)];
  if (ref !== null) checks.push((value, pass, seen) => at(ref)(value, pass, seen));
  const unseen = unseenCheck(parts);
  const body = unseen === null ? all(checks) : tracking(all([...checks, unseen]));
  const hasType = typeCheck(schema.type as string | readonly string[] | undefined);
  const isEmpty = checks.length === 0 && unseen === null;
  const whole = hasType === null ? body : isEmpty ? hasType : ofType(hasType, body);
  return isLeaf(place) ? whole : counted(whole);
}

/** What else is wrong with a value of the wrong type says nothing more. */
function ofType(hasType: Check, body: Check): Check {
  return (value, pass, seen) => hasType(value, pass, seen) && body(value, pass, seen);
}

/** A schema with none inside can neither multiply nor recurse. */
function isLeaf(place: Place): boolean {
  const keywords = Object.keys(place.schema);
  return place.ref === null && !keywords.some((keyword) => KEYWORDS.get(keyword)?.startsWith('schema'));
}

/** Counts every step inwards, and gives the walk up when there are too many. */
function counted(check: Check): Check {
  return (value, pass, seen) => {
    pass.steps += 1;
    if (pass.steps > MAX_STEPS) pass.overrun ??= 'takes too many steps to check against its schema';
    if (pass.depth >= MAX_DEPTH) pass.overrun ??= 'is nested too deeply to be checked';
    if (pass.overrun !== null) return false;
    pass.depth += 1;
    const ok = check(value, pass, seen);
    pass.depth -= 1;
    return ok;
  };
}

/** Starts a list of what is looked at, and hands it on to the schema around, if that keeps one. */
function tracking(check: Check): Check {
  return (value, pass, around) => {
    const seen = nothingSeen();
    const ok = check(value, pass, seen);
    if (around !== null) mergeSeen(around, seen);
    return ok;
  };
}

/** All checks as one: a silent walk stops at the first that fails, any other hears them all. */
function all<T>(checks: readonly Check<T>[]): Check<T> {
  const [only] = checks;
  if (only === undefined) return () => true;
  if (checks.length === 1) return only;
  return (value, pass, seen) => {
    let ok = true;
    for (const check of checks) {
      if (check(value, pass, seen)) continue;
      if (pass.problems === null) return false;
      ok = false;
    }
    return ok;
  };
}

/** One check for the keywords that concern only one type of value, or none where there are no such keywords. */
function byType(parts: SchemaParts): readonly Check[] {
  const numbers = numberChecks(parts.schema);
  const strings = stringChecks(parts.schema);
  const lists = listChecks(parts);
  const objects = objectChecks(parts);
  if (numbers.length + strings.length + lists.length + objects.length === 0) return [];
  const [forNumber, forString, forList, forObject] = [all(numbers), all(strings), all(lists), all(objects)];
  const check: Check = (value, pass, seen) => {
    if (typeof value === 'string') return forString(value, pass, seen);
    if (typeof value === 'number') return forNumber(value, pass, seen);
    if (Array.isArray(value)) return forList(value, pass, seen);
    return isJsonObject(value) ? forObject(value, pass, seen) : true;
  };
  return [check];
}

/** Judges what no other keyword has looked at, so it comes after all of them; null where nothing asks for it. */
function unseenCheck(parts: SchemaParts): Check | null {
  const properties = parts.one('unevaluatedProperties');
  const items = parts.one('unevaluatedItems');
  if (properties === null && items === null) return null;
  const forObject = properties === null ? null : unevaluatedPropertiesCheck(parts, properties);
  const forList = items === null ? null : unevaluatedItemsCheck(items);
  return (value, pass, seen) => {
    if (Array.isArray(value)) return forList?.(value, pass, seen) ?? true;
    return isJsonObject(value) ? (forObject?.(value, pass, seen) ?? true) : true;
  };
}

function typeCheck(type: string | readonly string[] | undefined): Check | null {
  if (type === undefined) return null;
  const types = typeof type === 'string' ? [type] : type;
  const words = listed(
    types.map((name) => TYPES.get(name) ?? name),
    'or',
  );
  const [only = ''] = types;
  const each = types.map(isOfType);
  const holds = each.length === 1 ? isOfType(only) : (value: Json) => each.some((is) => is(value));
  return (value, pass) => holds(value) || fail(pass, () => `must be ${words}, got ${kindOf(value)}`);
}

/** INVARIANT: a boolean is not an integer. 1.0 is one, since JSON has one kind of number. */
function isOfType(type: string): (value: Json) => boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger;
    case 'number':
      return Number.isFinite;
    case 'array':
      return Array.isArray;
    case 'object':
      return isJsonObject;
    case 'null':
      return (value) => value === null;
    default:
      return type === 'string' ? (value) => typeof value === 'string' : (value) => typeof value === 'boolean';
  }
}

function partsOf(schema: JsonObject, path: Place['path'], at: (pointer: string) => Check): SchemaParts {
  return {
    schema,
    one: (keyword) => (Object.hasOwn(schema, keyword) ? at(pointerOf([...path, keyword])) : null),
    many: (keyword) => {
      const keys = Object.keys((Object.hasOwn(schema, keyword) ? schema[keyword] : {}) as JsonObject);
      // A stored workflow has its keys in another order than its file, and must list problems in the same.
      return new Map(keys.sort().map((key) => [key, at(pointerOf([...path, keyword, key]))]));
    },
  };
}

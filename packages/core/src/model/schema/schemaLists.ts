import { canonicalJson, type Json } from '../../json.ts';
import type { SchemaParts } from './schemaParts.ts';
import { type Check, fail, inside, silent } from './schemaPass.ts';

type List = readonly Json[];

/** The checks a schema has for lists, but for `unevaluatedItems`, which must come last. */
export function listChecks(parts: SchemaParts): readonly Check<List>[] {
  const { minItems, maxItems, uniqueItems } = parts.schema;
  const checks: Check<List>[] = [];
  if (typeof minItems === 'number') {
    checks.push(
      (value, pass) =>
        value.length >= minItems ||
        fail(pass, () => `must have at least ${items(minItems)}, has ${value.length}`),
    );
  }
  if (typeof maxItems === 'number') {
    checks.push(
      (value, pass) =>
        value.length <= maxItems ||
        fail(pass, () => `must have at most ${items(maxItems)}, has ${value.length}`),
    );
  }
  if (uniqueItems === true) checks.push(differ);
  const prefix = [...parts.many('prefixItems').values()];
  const rest = parts.one('items');
  if (prefix.length > 0 || rest !== null) checks.push(itemsCheck(prefix, rest));
  const contains = parts.one('contains');
  if (contains !== null) checks.push(containsCheck(parts, contains));
  return checks;
}

/** Judges the items nothing else has looked at. */
export function unevaluatedItemsCheck(check: Check): Check<List> {
  const enter = inside(check);
  return (value, pass, seen) => {
    let ok = true;
    for (let index = seen?.items ?? 0; index < value.length; index++) {
      if (seen?.indexes.has(index) || enter(value[index] as Json, index, pass)) continue;
      if (pass.problems === null) return false;
      ok = false;
    }
    if (seen !== null) seen.items = value.length;
    return ok;
  };
}

function itemsCheck(prefix: readonly Check[], rest: Check | null): Check<List> {
  const enterPrefix = prefix.map(inside);
  const enterRest = rest === null ? null : inside(rest);
  return (value, pass, seen) => {
    const end = enterRest === null ? Math.min(value.length, prefix.length) : value.length;
    let ok = true;
    for (let index = 0; index < end; index++) {
      const enter = enterPrefix[index] ?? enterRest;
      if (enter === null || enter(value[index] as Json, index, pass)) continue;
      if (pass.problems === null) return false;
      ok = false;
    }
    if (seen !== null) seen.items = Math.max(seen.items, end);
    return ok;
  };
}

function containsCheck(parts: SchemaParts, contains: Check): Check<List> {
  const { minContains, maxContains } = parts.schema;
  const least = typeof minContains === 'number' ? minContains : 1;
  const most = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY;
  const holds = silent(contains);
  return (value, pass, seen) => {
    let count = 0;
    for (let index = 0; index < value.length; index++) {
      if (!holds(value[index] as Json, pass, null)) continue;
      count += 1;
      seen?.indexes.add(index);
    }
    if (count < least)
      return fail(pass, () => `must have at least ${items(least)} of the kind asked for, has ${count}`);
    if (count > most)
      return fail(pass, () => `must have at most ${items(most)} of the kind asked for, has ${count}`);
    return true;
  };
}

/** Compares by content. Canonical text is the same for the same content, which spares comparing all pairs. */
const differ: Check<List> = (value, pass) => {
  const plain = new Map<Json, number>();
  const nested = new Map<string, number>();
  for (let index = 0; index < value.length; index++) {
    const item = value[index] as Json;
    const isPlain = typeof item !== 'object' || item === null;
    const text = isPlain ? '' : canonicalJson(item);
    const first = isPlain ? plain.get(item) : nested.get(text);
    if (first !== undefined)
      return fail(pass, () => `must have no two equal items, but ${first} and ${index} are`);
    if (isPlain) plain.set(item, index);
    else nested.set(text, index);
  }
  return true;
};

function items(count: number): string {
  return count === 1 ? '1 item' : `${count} items`;
}

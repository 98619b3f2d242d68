import type { Json } from '@phasegate/core/model';
import { jsonEqual } from '@phasegate/core/model';

/** What is required of one value: every condition that must hold of it at once. */
export interface ValueSet {
  /** Null where any value will do. */
  readonly allowed: readonly Json[] | null;
  readonly excluded: readonly Json[];
  readonly least: Edge;
  readonly most: Edge;
  readonly integer: boolean;
  /** Names of JSON types, or null for any. */
  readonly types: readonly string[] | null;
}

/** One end of a range. */
export interface Edge {
  readonly at: number;
  readonly open: boolean;
}

/** Everything. */
export const ANYTHING: ValueSet = {
  allowed: null,
  excluded: [],
  least: { at: Number.NEGATIVE_INFINITY, open: false },
  most: { at: Number.POSITIVE_INFINITY, open: false },
  integer: false,
  types: null,
};

/** Nothing. */
export const NOTHING: ValueSet = { ...ANYTHING, allowed: [] };

/** What is in both. */
export function intersect(one: ValueSet, other: ValueSet): ValueSet {
  const allowed =
    one.allowed === null || other.allowed === null
      ? (one.allowed ?? other.allowed)
      : one.allowed.filter((value) => other.allowed?.some((candidate) => jsonEqual(candidate, value)));
  const types =
    one.types === null || other.types === null
      ? (one.types ?? other.types)
      : one.types.filter((type) => other.types?.includes(type));
  return {
    allowed,
    excluded: [...one.excluded, ...other.excluded],
    least: higher(one.least, other.least),
    most: lower(one.most, other.most),
    integer: one.integer || other.integer,
    types,
  };
}

/** True only where no value at all can be in the set. */
export function isEmpty(set: ValueSet): boolean {
  if (set.types?.length === 0) return true;
  if (set.allowed !== null) return !set.allowed.some((value) => has(set, value));
  const numeric = set.types?.every((type) => type === 'number') === true;
  if (numeric && noNumberBetween(set)) return true;
  const booleans = set.types?.every((type) => type === 'boolean') === true;
  return booleans && [true, false].every((value) => !has(set, value));
}

/** The JSON type of a value, with integers among the numbers. */
export function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function has(set: ValueSet, value: Json): boolean {
  if (set.excluded.some((excluded) => jsonEqual(excluded, value))) return false;
  if (set.types !== null && !set.types.includes(typeOf(value))) return false;
  if (typeof value !== 'number') return true;
  if (set.integer && !Number.isInteger(value)) return false;
  const above = set.least.open ? value > set.least.at : value >= set.least.at;
  const below = set.most.open ? value < set.most.at : value <= set.most.at;
  return above && below;
}

function noNumberBetween({ least, most, integer, excluded }: ValueSet): boolean {
  if (!integer) {
    if (least.at > most.at) return true;
    if (least.at < most.at) return false;
    return least.open || most.open || excluded.includes(least.at);
  }
  const first = Number.isInteger(least.at) && least.open ? least.at + 1 : Math.ceil(least.at);
  const last = Number.isInteger(most.at) && most.open ? most.at - 1 : Math.floor(most.at);
  if (first > last) return true;
  // Only a short range can be emptied value by value.
  if (last - first > 100) return false;
  for (let value = first; value <= last; value++) if (!excluded.includes(value)) return false;
  return true;
}

function higher(one: Edge, other: Edge): Edge {
  if (one.at !== other.at) return one.at > other.at ? one : other;
  return one.open ? one : other;
}

function lower(one: Edge, other: Edge): Edge {
  if (one.at !== other.at) return one.at < other.at ? one : other;
  return one.open ? one : other;
}

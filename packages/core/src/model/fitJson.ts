import { type Json, type JsonObject, jsonBytes } from '../json.ts';

/** What is left of a value, and the paths of what was cut. */
export interface FittedJson {
  readonly value: JsonObject;
  readonly cut: readonly string[];
}

/**
 * Cuts an object until its JSON has no more than so many bytes. Small members stay whole, large ones share what is
 * left; texts, lists and objects are cut at their end and keep their type. The object's own members all stay. It takes
 * time in proportion to the value, once: nothing is tried again.
 */
export function fitJson(whole: JsonObject, most: number): FittedJson {
  const cut: string[] = [];
  const sizes = new Map<Json, number>();
  const value = fitObject(whole, most, { path: '', cut, sizeOf: (part) => sizeOf(part, sizes) });
  return { value, cut };
}

interface Place {
  readonly path: string;
  readonly cut: string[];
  /** Bytes of a part as JSON; each object and long text is measured once, however often it is asked about. */
  sizeOf(part: Json): number;
}

function sizeOf(value: Json, sizes: Map<Json, number>): number {
  if (typeof value === 'string' && value.length > LONG) {
    const bytes = sizes.get(value) ?? jsonBytes(value, Number.POSITIVE_INFINITY);
    sizes.set(value, bytes);
    return bytes;
  }
  if (typeof value !== 'object' || value === null) return jsonBytes(value, Number.POSITIVE_INFINITY);
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let bytes = 1;
  if (Array.isArray(value)) for (const item of value) bytes += 1 + sizeOf(item, sizes);
  else {
    for (const key in value as JsonObject) {
      const member = (value as JsonObject)[key];
      if (member === undefined || !Object.hasOwn(value, key)) continue;
      bytes += 2 + jsonBytes(key, Number.POSITIVE_INFINITY) + sizeOf(member, sizes);
    }
  }
  bytes = Math.max(bytes, 2);
  sizes.set(value, bytes);
  return bytes;
}

/** Looking a shorter text up takes as long as measuring it. */
const LONG = 1000;
/** Most paths that are named; the rest is told by the last. */
const MOST_PATHS = 20;
const LONGEST_PATH = 100;
/** Less than this is not worth giving. */
const LEAST = 48;
/** An object that is an item keeps its members, so it needs more room. */
const LEAST_ITEM = 1000;

function fit(value: Json, most: number, place: Place): Json {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value;
  if (place.sizeOf(value) <= most) return value;
  if (typeof value === 'string') return fitText(value, most, place);
  return Array.isArray(value) ? fitList(value, most, place) : fitObject(value as JsonObject, most, place);
}

function fitText(text: string, most: number, place: Place): string {
  note(place);
  const told = `… [cut, ${text.length} characters in all]`;
  const room = most - jsonBytes(told, most);
  let [kept, bytes] = [0, 0];
  while (kept < text.length) {
    const unit = text.slice(kept, kept + 1);
    bytes += jsonBytes(unit, 8) - 2;
    if (bytes > room) break;
    kept += 1;
  }
  return `${text.slice(0, kept).toWellFormed()}${told}`;
}

function fitList(list: readonly Json[], most: number, place: Place): readonly Json[] {
  note(place);
  const kept: Json[] = [];
  let left = most - 2;
  for (const [index, item] of list.entries()) {
    const bytes = 1 + place.sizeOf(item);
    if (bytes > left) {
      if (left > LEAST_ITEM) kept.push(fit(item, left - 1, inside(place, `[${index}]`)));
      break;
    }
    kept.push(item);
    left -= bytes;
  }
  return kept;
}

function fitObject(object: JsonObject, most: number, place: Place): JsonObject {
  const isOuter = place.path === '';
  const all = Object.keys(object);
  // A wide object keeps its first members: shares of next to nothing help nobody.
  const few = isOuter ? all : all.slice(0, Math.max(1, Math.floor(most / LEAST)));
  if (few.length < all.length) note(place);
  const members = few.flatMap((key) => {
    const value = object[key];
    if (value === undefined) return [];
    return [{ key, value, name: jsonBytes(key, most) + 2, bytes: place.sizeOf(value) }];
  });
  const shares = new Map<string, number>();
  let left = most - 2;
  const inOrder = [...members].sort((one, other) => one.name + one.bytes - other.name - other.bytes);
  for (const [index, { key, name, bytes }] of inOrder.entries()) {
    const share = Math.max(0, Math.floor(left / (inOrder.length - index)) - name);
    shares.set(key, share);
    left -= name + Math.min(bytes, share);
  }
  const kept = members.flatMap(({ key, value, bytes }): (readonly [string, Json])[] => {
    const share = shares.get(key) as number;
    if (bytes <= share) return [[key, value]];
    const here = inside(place, key);
    if (!isOuter && share < LEAST) {
      note(here);
      return [];
    }
    return [[key, fit(value, share, here)]];
  });
  return Object.fromEntries(kept);
}

function inside(place: Place, key: string): Place {
  const { path } = place;
  // A member named by the empty text is told by its quotes: only the whole object has no path.
  const name = `${path}${path === '' || key.startsWith('[') ? '' : '.'}${key === '' ? '""' : key}`;
  const short = name.length > LONGEST_PATH ? `${name.slice(0, LONGEST_PATH).toWellFormed()}…` : name;
  return { ...place, path: short };
}

function note({ path, cut }: Place): void {
  if (path === '' || cut.length > MOST_PATHS || cut.includes(path)) return;
  cut.push(cut.length === MOST_PATHS ? '…' : path);
}

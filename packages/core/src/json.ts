/** A JSON value: all that crosses a boundary of the engine is made of these. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** True for a plain JSON object, false for arrays and null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads an own property, so that a key such as `constructor` never reaches the prototype. */
export function own(value: unknown, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, Json>)[key];
}

/** Deeper than any evidence made by hand or tool, and shallow enough for every recursive reader. */
export const DEPTH_LIMIT = 200;

/** True for a value that is nested deeper than the limit. It goes no deeper itself. */
export function tooDeep(value: Json): boolean {
  return isDeeper(value, DEPTH_LIMIT);
}

function isDeeper(value: Json, left: number): boolean {
  if (left < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeper(member, left - 1)) return true;
  }
  return false;
}

/**
 * Why a value cannot be taken for JSON, or null: nested too deep, with a number JSON has no word for, or with a key that
 * is not Unicode. `1e999` is valid JSON text and is read as infinity, which nothing here can write down again. Of two
 * keys with halves of pairs canonical JSON makes one, so that a record would say less than the state it is about.
 */
export function jsonProblem(value: unknown, deepest = DEPTH_LIMIT): string | null {
  const unfit = unfitPlace(value, deepest);
  if (unfit === null) return null;
  if (unfit === TOO_DEEP) return `is nested deeper than ${deepest} levels`;
  const { place, isKey } = unfit;
  const what = isKey ? 'a key with half of a surrogate pair' : 'a number that JSON cannot hold';
  if (place !== '') return `has at \`${place}\` ${what}`;
  return isKey ? `has ${what}` : `is ${what}`;
}

/** Where a value has something unfit, and whether it is one of its keys there. */
interface Unfit {
  readonly place: string;
  readonly isKey: boolean;
}

const TOO_DEEP = Symbol('nested too deep');
const LONGEST_PLACE = 200;
const UNFIT_NUMBER: Unfit = { place: '', isKey: false };
const UNFIT_KEY: Unfit = { place: '', isKey: true };

/** All in one walk, as listing the keys of a wide object is what costs. The place is spelled only where there is one. */
function unfitPlace(value: unknown, left: number): Unfit | typeof TOO_DEEP | null {
  if (left < 0) return TOO_DEEP;
  if (typeof value === 'number') return Number.isFinite(value) ? null : UNFIT_NUMBER;
  if (typeof value !== 'object' || value === null) return null;
  let first: Unfit | null = null;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = unfitPlace(value[index], left - 1);
      if (found === TOO_DEEP) return found;
      if (found !== null) first ??= within(`[${index}]`, found);
    }
    return first;
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (!key.isWellFormed()) first ??= UNFIT_KEY;
    const found = unfitPlace((value as JsonObject)[key], left - 1);
    if (found === TOO_DEEP) return found;
    if (found !== null) first ??= within(key.slice(0, LONGEST_PLACE).toWellFormed(), found);
  }
  return first;
}

function within(key: string, { place, isKey }: Unfit): Unfit {
  const all = `${key}${place === '' || place.startsWith('[') ? '' : '.'}${place}`;
  return { place: all.slice(0, LONGEST_PLACE), isKey };
}

/**
 * Where a value has a text, or a key, with half of a surrogate pair; null where it has none. Canonical JSON writes one and
 * the same for all such halves: of two values that differ in them alone the hash is one.
 */
export function halfPairIn(value: unknown): readonly (string | number)[] | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, member] of Object.entries(value)) {
    const below = key.isWellFormed() ? halfPairIn(member) : [];
    if (below !== null) return [Array.isArray(value) ? Number(key) : key, ...below];
  }
  return null;
}

/** The most evidence one submission may hold, in bytes of JSON. */
export const EVIDENCE_LIMIT = 1024 * 1024;

/** How many bytes a value has as JSON in UTF-8; it stops counting above `most`, so that a huge one costs no more. */
export function jsonBytes(value: unknown, most: number): number {
  if (typeof value === 'string') return textBytes(value, most);
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : String(value).length;
  let bytes = 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && bytes <= most; index += 1) {
      bytes += 1 + jsonBytes(value[index], most - bytes);
    }
    return Math.max(bytes, 2);
  }
  for (const key in value) {
    if (bytes > most) break;
    if (!Object.hasOwn(value, key)) continue;
    const member = (value as JsonObject)[key];
    if (member === undefined) continue;
    bytes += 2 + textBytes(key, most - bytes);
    if (bytes <= most) bytes += jsonBytes(member, most - bytes);
  }
  return Math.max(bytes, 2);
}

function textBytes(text: string, most: number): number {
  // No text has fewer bytes than characters.
  if (text.length > most) return text.length + 2;
  let bytes = 2;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
    else if (unit === 0x22 || unit === 0x5c) bytes += 2;
    else bytes += unit < 0x20 ? (SHORT_ESCAPES.has(unit) ? 2 : 6) : 1;
  }
  return bytes;
}

/** Backspace, tab, line feed, form feed, carriage return. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);

/**
 * Canonical JSON after RFC 8785: sorted keys (by UTF-16 code unit), no white space, ECMAScript numbers.
 * The audit's hashes, the signatures and `shown` are all taken over this text.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no number for a non-finite value');
    return String(value);
  }
  if (value === null || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as JsonObject);
}

// Built by appending rather than by `map` and `join`: every transition and tool call goes through here.
function canonicalArray(items: readonly Json[]): string {
  let text = '[';
  for (let at = 0; at < items.length; at += 1) {
    const item = canonicalJson(items[at] as Json);
    text += at === 0 ? item : `,${item}`;
  }
  return `${text}]`;
}

function canonicalObject(object: JsonObject): string {
  let text = '{';
  const keys = sortedKeys(object);
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as string;
    const member = object[key];
    if (member === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${quoted(key)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}

/** Most objects have few keys: those are put in order where they stand, as `sort` would, but without its copies. */
function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let at = 1; at < keys.length; at += 1) {
    const key = keys[at] as string;
    let place = at;
    while (place > 0 && (keys[place - 1] as string) > key) {
      keys[place] = keys[place - 1] as string;
      place -= 1;
    }
    keys[place] = key;
  }
  return keys;
}

const FEW_KEYS = 24;

/** Most strings are short and plain; only the others are worth a call out of the language. */
function quoted(value: string): string {
  if (value.length < 100 && !NOT_PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value.isWellFormed() ? value : value.toWellFormed());
}

/** Quotes, backslashes, control characters and halves of pairs: all but the characters that JSON has as they are. */
const NOT_PLAIN = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

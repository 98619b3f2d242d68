import type { Json, JsonObject } from '@phasegate/core';

/** A snapshot in JSON is shorter than this, in bytes. */
export const SNAPSHOT_LIMIT = 100_000;

/** What is left of a snapshot, and the paths of what was cut. */
export type Fitted<T> = T & { readonly truncated: readonly string[] };

/**
 * Cuts a snapshot until it is under the limit: the longest texts first, then long lists and wide objects, then what
 * is nested deep. The snapshot's own fields stay, each with its type.
 */
export function fitSnapshot<T extends object>(snapshot: T, limit = SNAPSHOT_LIMIT): Fitted<T> {
  const whole = { ...snapshot, truncated: [] };
  if (sizeOf(whole) < limit) return whole;
  for (const caps of STAGES) {
    const cut: string[] = [];
    const fields = Object.entries(snapshot).map(([key, value]) => [
      key,
      cutTo(value as Json, caps, { path: key, depth: 1, cut }),
    ]);
    const fitted = { ...(Object.fromEntries(fields) as T), truncated: cut };
    if (sizeOf(fitted) < limit) return fitted;
  }
  throw new TypeError('a snapshot has more fields of its own than fit');
}

interface Caps {
  readonly text: number;
  readonly entries: number;
  readonly depth: number;
}

const TEXTS = [32_768, 16_384, 8_192, 4_096, 2_048, 1_024, 512, 256];
const ENTRIES = [200, 100, 50, 25, 12];
const DEPTHS = [8, 4, 3, 2, 1];

const STAGES: readonly Caps[] = [
  ...TEXTS.map((text) => ({ text, entries: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY })),
  ...ENTRIES.map((entries) => ({ text: 256, entries, depth: Number.POSITIVE_INFINITY })),
  ...DEPTHS.map((depth) => ({ text: 128, entries: 12, depth })),
  { text: 16, entries: 0, depth: 0 },
];

/** Most paths that are named; the rest is told by the last. */
const MOST_PATHS = 50;
const LONGEST_PATH = 120;
/** Fields of our own objects, which no cap on entries may take away. */
const OWN_FIELDS = 40;

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly cut: string[];
}

function cutTo(value: Json, caps: Caps, place: Place): Json {
  if (typeof value === 'string') return cutText(value, caps, place);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return cutList(value, caps, place);
  return cutObject(value as JsonObject, caps, place);
}

function cutText(text: string, { text: cap }: Caps, place: Place): string {
  if (text.length <= cap) return text;
  note(place);
  return `${text.slice(0, cap).toWellFormed()}… [cut, ${text.length} characters in all]`;
}

function cutList(list: readonly Json[], caps: Caps, place: Place): Json {
  const most = place.depth > caps.depth ? 0 : caps.entries;
  if (list.length > most) note(place);
  return list
    .slice(0, most)
    .map((item, index) =>
      cutTo(item, caps, { ...place, path: `${place.path}[${index}]`, depth: place.depth + 1 }),
    );
}

function cutObject(object: JsonObject, caps: Caps, place: Place): Json {
  const entries = Object.entries(object);
  const most = mostFields(caps, place);
  const kept = entries.slice(0, most).filter(([key]) => key.length <= Math.max(caps.text, 64));
  if (kept.length < entries.length) note(place);
  return Object.fromEntries(
    kept.map(([key, item]) => [
      key,
      cutTo(item, caps, { ...place, path: `${place.path}.${key}`, depth: place.depth + 1 }),
    ]),
  );
}

function mostFields({ entries, depth }: Caps, place: Place): number {
  if (place.depth > depth) return 0;
  return entries === 0 ? 0 : Math.max(entries, OWN_FIELDS);
}

function note({ path, cut }: Place): void {
  if (cut.length > MOST_PATHS) return;
  if (cut.length === MOST_PATHS) cut.push('…');
  else cut.push(path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH).toWellFormed()}…` : path);
}

function sizeOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

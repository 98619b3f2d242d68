import { hash } from 'node:crypto';
import type { Json, JsonObject } from '@phasegate/core';

/**
 * A JSON text whose large values are taken out, to be stored once wherever they occur. A place stands between two
 * U+0001, which JSON never holds unescaped: here the number of its part, in the stored text what `placeOf` writes.
 */
export interface CutText {
  readonly text: string;
  readonly parts: readonly Part[];
}

/** A value that was taken out, as JSON in the order its author gave it. */
export interface Part {
  readonly text: string;
  /** SHA-256 of the text. */
  readonly digest: string;
}

const NO_PARTS: readonly Part[] = [];

/** Most values are looked at more often than they are taken out, and only then it matters what they hash to. */
class LazyPart implements Part {
  readonly text: string;
  #digest: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get digest(): string {
    this.#digest ??= digestOfPart(this.text);
    return this.#digest;
  }
}

/** Cuts the texts of one write, so that a value which occurs in several of them is looked at once. */
export interface Cutter {
  /** The JSON of a value. */
  json(value: Json): CutText;
  /** The canonical JSON of a value, whose text is known; what is cut keeps its keys in their own order. */
  canonical(value: Json, text: string): CutText;
}

/** Starts cutting the texts of one write. */
export function createCutter(): Cutter {
  const cutting: Cutting = { parts: [], known: new Map() };
  return {
    json(value) {
      const text = structure(value, cutting);
      return text === null
        ? { text: JSON.stringify(value), parts: NO_PARTS }
        : { text, parts: cutting.parts };
    },
    canonical: (value, text) =>
      text.length <= LARGE
        ? { text, parts: NO_PARTS }
        : { text: structure(value, cutting) ?? text, parts: cutting.parts },
  };
}

/** The text to be stored, with the place of every part. */
export function withPlaces({ text, parts }: CutText, placeOf: (part: Part) => string): string {
  if (parts.length === 0 || !text.includes(MARK)) return text;
  return text
    .split(MARK)
    .map((piece, index) => (index % 2 === 0 ? piece : placeOf(parts[Number(piece)] as Part)))
    .join('');
}

/** The place of a part in a stored text. */
export function placeOf(id: number, { text, digest }: Part): string {
  return `${MARK}${id}:${text.length}:${digest}${MARK}`;
}

/** How long a stored text is with all parts put back, in characters. */
export function wholeLength(stored: string): number {
  if (!stored.includes(MARK)) return stored.length;
  let length = 0;
  for (const [index, piece] of stored.split(MARK).entries()) {
    length += index % 2 === 0 ? piece.length : Number(piece.split(':')[1]);
  }
  return length;
}

/** By the digests of their parts. */
function placesIn(stored: string): ReadonlyMap<string, string> {
  if (!stored.includes(MARK)) return NONE;
  const places = stored.split(MARK).filter((_, index) => index % 2 === 1);
  // The mark of items that stand apart is a place of nothing.
  const ofParts = places.flatMap((place) => {
    const digest = place.split(':')[2] ?? '';
    return digest === '' ? [] : [[digest, `${MARK}${place}${MARK}`] as const];
  });
  return ofParts.length === 0 ? NONE : new Map(ofParts);
}

/** Places that are known, with those of a newer text; of many, the newest. */
export function withPlacesOf(
  known: ReadonlyMap<string, string>,
  stored: string,
): ReadonlyMap<string, string> {
  const found = placesIn(stored);
  if (found.size === 0) return known;
  const all = new Map(known);
  for (const [digest, place] of found) {
    all.delete(digest);
    all.set(digest, place);
  }
  return all.size <= MOST_PLACES ? all : new Map([...all].slice(-MOST_PLACES));
}

/** The whole text, with all parts put back; null where one is missing or is not what it was. */
export function putBack(
  stored: string,
  partOf: (id: number) => string | undefined,
  seen?: SeenParts,
): string | null {
  if (!stored.includes(MARK)) return stored;
  const pieces = stored.split(MARK);
  // An odd number of marks was made by somebody else.
  if (pieces.length % 2 === 0) return null;
  let whole = '';
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 0) {
      whole += piece;
      continue;
    }
    const text = seen?.get(piece) ?? partAt(piece, partOf);
    if (text === undefined) return null;
    seen?.add(piece, text);
    whole += text;
  }
  return whole;
}

/** The text with nothing in place of its parts: the structure that is the engine's own. */
export function withoutParts(stored: string): string {
  return stored
    .split(MARK)
    .map((piece, index) => (index % 2 === 0 ? piece : 'null'))
    .join('');
}

/** The text with the hash and the length of each part in its place: read where what agents handed in is not asked for. */
export function leavingOut(stored: string): string {
  if (!stored.includes(MARK)) return stored;
  return stored
    .split(MARK)
    .map((piece, index) => (index % 2 === 0 ? piece : leftOut(piece)))
    .join('');
}

function leftOut(place: string): string {
  const [, size, digest = ''] = place.split(':');
  const sha256 = Buffer.from(digest, 'base64url').toString('hex');
  return JSON.stringify({ left_out: { sha256, size: Number(size) } });
}

/** The part of a place, where it is what it was. */
function partAt(place: string, partOf: (id: number) => string | undefined): string | undefined {
  const [id, length, digest] = place.split(':');
  const text = partOf(Number(id));
  return text?.length === Number(length) && digestOfPart(text) === digest ? text : undefined;
}

/** Parts that were read and found to be what they were, by their places. */
export interface SeenParts {
  get(place: string): string | undefined;
  add(place: string, text: string): void;
  /** What comes next refers to other parts. */
  clear(): void;
}

/**
 * For who reads one unchanging view: a run and its records refer to the same parts, each of which is then read and hashed
 * once. It never holds more than so many characters.
 */
export function createSeenParts(): SeenParts {
  const seen = new Map<string, string>();
  let characters = 0;
  function clear(): void {
    seen.clear();
    characters = 0;
  }
  return {
    clear,
    get: (place) => seen.get(place),
    add(place, text) {
      if (seen.has(place) || text.length > MOST_SEEN) return;
      if (characters + text.length > MOST_SEEN) clear();
      seen.set(place, text);
      characters += text.length;
    },
  };
}

/** In characters. */
const MOST_SEEN = 1_000_000;

const MARK = '\u0001';

/** What is handed in again is most often what was handed in a moment ago. */
const MOST_PLACES = 16;

/** In characters of JSON. A shorter value costs less where it stands than in a row of its own. */
const LARGE = 512;

/** About as many characters as a place has. */
const PLACE = 64;

/** A value is cut into parts of its own only where nearly all of it is in them; else it is one part. */
const NEARLY_ALL = 8;

/** Keys under which runs and events hold what authors and agents made, rather than the engine. */
const VALUES: ReadonlySet<string> = new Set([
  'approved',
  'evidence',
  'held',
  'params',
  'state',
  'value',
  'word',
]);

const NONE: ReadonlyMap<string, string> = new Map();

interface Cutting {
  /** Of all texts of the write; a part that no text refers to is not stored. */
  readonly parts: Part[];
  readonly known: Map<object, CutValue | null>;
}

/** What stands where a value was, which is JSON but for its places. */
interface CutValue {
  readonly stored: string;
  /** Of `stored`, with every place at its full length. */
  readonly length: number;
}

/** The engine's own structure stays where it is; only values within it are taken out. Null where there are none. */
function structure(value: Json, cutting: Cutting): string | null {
  if (typeof value !== 'object' || value === null) return null;
  return compose(value, (member, key) =>
    VALUES.has(key) ? (cutValue(member, cutting)?.stored ?? null) : structure(member, cutting),
  );
}

/** The JSON of a list or object in which some members are written otherwise; null where none is. */
function compose(value: object, write: (member: Json, key: string) => string | null): string | null {
  if (Array.isArray(value)) {
    const written = writtenIn(value, write);
    if (written === null) return null;
    return `[${value.map((member: Json, index) => written[index] ?? JSON.stringify(member ?? null)).join(',')}]`;
  }
  const object = value as JsonObject;
  const keys = Object.keys(object);
  let written: Map<string, string> | null = null;
  for (const key of keys) {
    const text = write(object[key] as Json, key);
    if (text === null) continue;
    written ??= new Map();
    written.set(key, text);
  }
  if (written === null) return null;
  let whole = '';
  for (const key of keys) {
    const member = object[key];
    if (member === undefined) continue;
    const text = written.get(key) ?? JSON.stringify(member);
    whole += `${whole === '' ? '' : ','}${JSON.stringify(key)}:${text}`;
  }
  return `{${whole}}`;
}

/** By their places in the list; null where none is written otherwise. */
function writtenIn(
  list: readonly Json[],
  write: (member: Json, key: string) => string | null,
): readonly (string | null)[] | null {
  let written: (string | null)[] | null = null;
  for (const [index, member] of list.entries()) {
    const text = write(member, '');
    if (text === null) continue;
    written ??= new Array<string | null>(list.length).fill(null);
    written[index] = text;
  }
  return written;
}

/** Null where the value stays as it is. */
function cutValue(value: Json, cutting: Cutting, known?: string): CutValue | null {
  if (typeof value !== 'object' || value === null) {
    const text = known ?? largeText(value);
    return text === null ? null : taken(text, cutting);
  }
  const before = cutting.known.get(value);
  if (before !== undefined) return before;
  const text = known ?? largeText(value);
  const cut = text === null ? null : (cutWithin(value, text, cutting) ?? taken(text, cutting));
  cutting.known.set(value, cut);
  return cut;
}

function taken(text: string, { parts }: Cutting): CutValue {
  parts.push(new LazyPart(text));
  return { stored: `${MARK}${parts.length - 1}${MARK}`, length: PLACE };
}

/** A value whose parts are taken out one by one; null where too much of it would be left. */
function cutWithin(value: object, text: string, cutting: Cutting): CutValue | null {
  const most = text.length / NEARLY_ALL;
  if (leftAtLeast(value, most) > most) return null;
  const large = largeMembers(value, text);
  const inParts = large.reduce((sum, whole) => sum + (whole?.length ?? 0), 0);
  if (inParts < text.length - most) return null;
  let saved = 0;
  let index = 0;
  const stored = compose(value, (member) => {
    const whole = large[index++] ?? null;
    const cut = whole === null ? null : cutValue(member, cutting, whole);
    if (whole === null || cut === null) return null;
    saved += whole.length - cut.length;
    return cut.stored;
  });
  const length = text.length - saved;
  return stored === null || length * NEARLY_ALL > text.length ? null : { stored, length };
}

/**
 * So many characters at least are in texts that are too short to be taken out; counted only until they are too many. Most
 * values have enough of them, and then nothing of it need be written as JSON a second time.
 */
function leftAtLeast(value: object, most: number): number {
  let left = 0;
  for (const member of Object.values(value as JsonObject)) {
    if (typeof member !== 'string' || !isShort(member)) continue;
    left += member.length;
    if (left > most) return left;
  }
  return left;
}

/** No character takes more than six of JSON, and most take one. */
function isShort(text: string): boolean {
  return text.length * 6 + 2 <= LARGE || (text.length + 2 <= LARGE && !ESCAPED.test(text));
}

/** All that JSON writes with more characters than one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are among them
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The JSON of the members that are large enough to be taken out, each in its place. */
function largeMembers(value: object, text: string): readonly (string | null)[] {
  const members = Object.values(value as JsonObject);
  const [only] = members;
  // Of a single one it stands in the JSON of the value already.
  if (members.length !== 1 || typeof only !== 'object' || only === null) return members.map(largeText);
  const from = Array.isArray(value) ? 1 : text.indexOf(':', keyEnd(text)) + 1;
  return [text.length - 1 - from <= LARGE ? null : text.slice(from, -1)];
}

/** Where the first key of an object ends in its JSON. */
function keyEnd(text: string): number {
  let at = 2;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** The JSON of a value that is large enough to be taken out. */
function largeText(member: Json | undefined): string | null {
  if ((typeof member !== 'string' && typeof member !== 'object') || member === null) return null;
  if (typeof member === 'string' && isShort(member)) return null;
  const text = JSON.stringify(member);
  return text.length <= LARGE ? null : text;
}

function digestOfPart(text: string): string {
  return hash('sha256', text, 'base64url');
}

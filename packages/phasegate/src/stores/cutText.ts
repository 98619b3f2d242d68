import { hash } from 'node:crypto';
import { canonicalJson, type Json, type JsonObject } from '@phasegate/core';

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

/** Cuts the texts of one write, so that a value which occurs in several of them is looked at once. */
export interface Cutter {
  /** The JSON of a value. */
  json(value: Json): CutText;
  /** The canonical JSON of a value, whose text is known; keys within parts keep their own order. */
  canonical(value: Json, text: string): CutText;
}

/** Starts cutting the texts of one write. */
export function createCutter(): Cutter {
  const known = new Map<object, Part>();
  const cut = (value: Json, sorted: boolean): CutText => {
    const parts: Part[] = [];
    return { text: structure(value, { sorted, parts, known }), parts };
  };
  return {
    json(value) {
      const text = JSON.stringify(value);
      return text.length <= LARGE ? { text, parts: [] } : cut(value, false);
    },
    canonical: (value, text) => (text.length <= LARGE ? { text, parts: [] } : cut(value, true)),
  };
}

/** The text to be stored, with the place of every part. */
export function withPlaces({ text, parts }: CutText, placeOf: (part: Part) => string): string {
  if (parts.length === 0) return text;
  return text
    .split(MARK)
    .map((piece, index) => (index % 2 === 0 ? piece : placeOf(parts[Number(piece)] as Part)))
    .join('');
}

/** The place of a part in a stored text. */
export function placeOf(id: number, { text, digest }: Part): string {
  return `${MARK}${id}:${text.length}:${digest}${MARK}`;
}

/** By the digests of their parts. */
function placesIn(stored: string): ReadonlyMap<string, string> {
  if (!stored.includes(MARK)) return NONE;
  const places = stored.split(MARK).filter((_, index) => index % 2 === 1);
  return new Map(places.map((place) => [place.split(':')[2] ?? '', `${MARK}${place}${MARK}`]));
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
export function putBack(stored: string, partOf: (id: number) => string | undefined): string | null {
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
    const [id, length, digest] = piece.split(':');
    const text = partOf(Number(id));
    if (text === undefined || text.length !== Number(length) || digestOfPart(text) !== digest) return null;
    whole += text;
  }
  return whole;
}

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
  readonly sorted: boolean;
  readonly parts: Part[];
  readonly known: Map<object, Part>;
}

/** The engine's own structure stays where it is; only values within it are taken out. */
function structure(value: Json, cutting: Cutting): string {
  if (typeof value !== 'object' || value === null) return scalar(value, cutting);
  if (Array.isArray(value)) return `[${value.map((member) => structure(member, cutting)).join(',')}]`;
  const members = Object.entries(value as JsonObject)
    .filter(([, member]) => member !== undefined)
    .map(
      ([key, member]): Member => [
        key,
        VALUES.has(key) ? cutValue(member, cutting).stored : structure(member, cutting),
      ],
    );
  return object(members, cutting.sorted);
}

interface CutValue {
  /** The JSON of the value. */
  readonly plain: string;
  readonly stored: string;
  /** Of `stored`, with every place at its full length. */
  readonly length: number;
}

function cutValue(value: Json, cutting: Cutting): CutValue {
  if (typeof value !== 'object' || value === null) {
    const plain = scalar(value, { sorted: false });
    if (plain.length > LARGE) return taken({ text: plain, digest: digestOfPart(plain) }, cutting);
    return { plain, stored: scalar(value, cutting), length: plain.length };
  }
  const known = cutting.known.get(value);
  if (known !== undefined) return taken(known, cutting);
  const before = cutting.parts.length;
  const cut = Array.isArray(value) ? cutList(value, cutting) : cutObject(value as JsonObject, cutting);
  if (cut.plain.length <= LARGE || cut.length * NEARLY_ALL <= cut.plain.length) return cut;
  cutting.parts.length = before;
  const part = { text: cut.plain, digest: digestOfPart(cut.plain) };
  cutting.known.set(value, part);
  return taken(part, cutting);
}

function taken(part: Part, { parts }: Cutting): CutValue {
  parts.push(part);
  return { plain: part.text, stored: `${MARK}${parts.length - 1}${MARK}`, length: PLACE };
}

function cutList(list: readonly Json[], cutting: Cutting): CutValue {
  const members = list.map((member) => cutValue(member ?? null, cutting));
  return {
    plain: `[${members.map(({ plain }) => plain).join(',')}]`,
    stored: `[${members.map(({ stored }) => stored).join(',')}]`,
    length: members.reduce((sum, { length }) => sum + length + 1, 1),
  };
}

function cutObject(value: JsonObject, cutting: Cutting): CutValue {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [key, cutValue(member, cutting)] as const);
  return {
    plain: object(
      members.map(([key, { plain }]) => [key, plain]),
      false,
    ),
    stored: object(
      members.map(([key, { stored }]) => [key, stored]),
      cutting.sorted,
    ),
    length: members.reduce((sum, [key, { length }]) => sum + key.length + length + 4, 1),
  };
}

type Member = readonly [key: string, text: string];

function object(members: readonly Member[], sorted: boolean): string {
  const inOrder = sorted ? [...members].sort(([one], [other]) => (one < other ? -1 : 1)) : members;
  return `{${inOrder.map(([key, text]) => `${scalar(key, { sorted })}:${text}`).join(',')}}`;
}

function scalar(value: null | boolean | number | string, { sorted }: Pick<Cutting, 'sorted'>): string {
  return sorted ? canonicalJson(value) : JSON.stringify(value);
}

function digestOfPart(text: string): string {
  return hash('sha256', text, 'base64url');
}

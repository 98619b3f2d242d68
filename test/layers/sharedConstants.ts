import type { House, Layers } from './layers.ts';
import { roomOf } from './roomOf.ts';
import { type Token, tokensOf } from './tokensOf.ts';

/** Something that stands in more than one room, word for word. */
export interface Repeated {
  readonly what: string;
  /** Files with their lines, e.g. `packages/core/src/json.ts:12`. */
  readonly places: readonly string[];
}

/**
 * Finds what is to be said once and stands in two rooms: patterns, the fields of a text that is signed or hashed, long
 * texts and lists that are constants, and limits of size with one name and value. Short things are alike by chance.
 */
export function repeatedConstants(house: House, layers: Layers): readonly Repeated[] {
  const found = new Map<string, { readonly room: string; readonly place: string }[]>();
  for (const [file, source] of house.files) {
    if (/\.test\.ts$|\/fixtures\//.test(file)) continue;
    const room = roomOf(file, layers) ?? file;
    for (const { what, line } of constantsIn(tokensOf(source))) {
      found.set(what, [...(found.get(what) ?? []), { room, place: `${file}:${line}` }]);
    }
  }
  return [...found]
    .filter(([, places]) => new Set(places.map(({ room }) => room)).size > 1)
    .map(([what, places]) => ({ what, places: places.map(({ place }) => place) }));
}

interface Constant {
  readonly what: string;
  readonly line: number;
}

function constantsIn(tokens: readonly Token[]): readonly Constant[] {
  return tokens.flatMap((token, at): readonly Constant[] => {
    const { text, line } = token;
    if (text.startsWith('/') && text.length >= LONG_PATTERN) return [{ what: text, line }];
    if (text === 'canonicalJson') return hashed(tokens, at).map((what) => ({ what, line }));
    if (text === 'const') return declared(tokens, at).map((what) => ({ what, line }));
    return [];
  });
}

/** The fields of an object that is put together to be signed or hashed. */
function hashed(tokens: readonly Token[], at: number): readonly string[] {
  if (tokens[at + 1]?.text !== '(' || tokens[at + 2]?.text !== '{') return [];
  const end = tokens.findIndex(({ text }, index) => index > at && text === '}');
  const inside = tokens.slice(at + 3, end).map(({ text }) => text);
  const fields = inside.filter(
    (text, index) => /^\w+$/.test(text) && [undefined, ','].includes(inside[index - 1]),
  );
  return fields.length < FEW ? [] : [`canonicalJson of ${fields.join(', ')}`];
}

/** A constant in capitals whose value is literal. */
function declared(tokens: readonly Token[], at: number): readonly string[] {
  const name = tokens[at + 1]?.text ?? '';
  if (!/^[A-Z][A-Z\d_]+$/.test(name)) return [];
  const from = tokens.findIndex(({ text }, index) => index > at && (text === '=' || text === ';'));
  const to = tokens.findIndex(({ text }, index) => index > from && text === ';');
  const value = tokens.slice(from + 1, to);
  const words = value.map(({ text }) => text).join(' ');
  const literals = value.flatMap(({ literal }) => (literal === null ? [] : [literal]));
  if (/^[\d_* ]+$/.test(words)) {
    const size = words.split('*').reduce((all, one) => all * Number(one.trim().replaceAll('_', '')), 1);
    return size >= LARGE ? [`${name} = ${size}`] : [];
  }
  if (value.length === 1 && literals[0] !== undefined)
    return literals[0].length >= LONG_TEXT ? [literals[0]] : [];
  const isList =
    /^(?:new Set \( )?\[/.test(words) && !/[a-z]\w* \(|=>/.test(words.replace(/^new Set \(/, ''));
  return isList && literals.length >= FEW ? [`list of ${[...literals].sort().join(', ')}`] : [];
}

const LONG_PATTERN = 16;
const LONG_TEXT = 24;
const FEW = 3;
/** Smaller numbers are alike by chance. */
const LARGE = 64 * 1024;

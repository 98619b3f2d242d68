import { ANY_NUMBER, compileCharacters, type Part, segmentsOfGlob } from './glob.ts';

/** True when there can be a path that both globs match, whatever files there are now. */
export function globsMeet(one: string, other: string): boolean {
  const others = segmentsOfGlob(other);
  return segmentsOfGlob(one).some((mine) => others.some((theirs) => pathsMeet(mine, theirs)));
}

/** A path as a glob that matches it and nothing else. */
export function literalGlob(path: string): string {
  return path.replace(/[[{}]/g, '[$&]');
}

function pathsMeet(one: readonly string[], other: readonly string[]): boolean {
  return sequencesMeet(one, other, { isAny: (part) => part === '**', meet: namesMeet });
}

function namesMeet(one: string, other: string): boolean {
  const alphabet = charactersFor(one + other);
  const meet = (a: Part, b: Part) =>
    a !== ANY_NUMBER && b !== ANY_NUMBER && alphabet.some((character) => a(character) && b(character));
  return sequencesMeet(compileCharacters(one), compileCharacters(other), {
    isAny: (part) => part === ANY_NUMBER,
    meet,
  });
}

/**
 * Enough characters to find one that both of two sets have, where there is one: each that is named, its neighbours,
 * as sets are made of ranges, and one that nobody names.
 */
function charactersFor(text: string): readonly string[] {
  const named = [...text].map((character) => character.codePointAt(0) ?? 0);
  const points = new Set([0x10fffd, ...named.flatMap((point) => [point - 1, point, point + 1])]);
  return [...points]
    .filter((point) => point > 0 && point <= 0x10ffff && point !== SLASH)
    .map((point) => String.fromCodePoint(point));
}

const SLASH = 0x2f;

/** Whether two patterns with parts that stand for any number of things have something in common. */
function sequencesMeet<Piece>(
  one: readonly Piece[],
  other: readonly Piece[],
  { isAny, meet }: { isAny(piece: Piece): boolean; meet(a: Piece, b: Piece): boolean },
): boolean {
  const width = other.length + 1;
  const open = [0];
  const seen = new Set(open);
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const [i, j] = [Math.floor(at / width), at % width];
    const [mine, theirs] = [one[i], other[j]];
    if (mine === undefined && theirs === undefined) return true;
    const next: number[] = [];
    // One that stands for any number ends here, or takes what the other asks for.
    if ((mine !== undefined && isAny(mine)) || (theirs !== undefined && isAny(theirs))) {
      if (mine !== undefined) next.push(at + width);
      if (theirs !== undefined) next.push(at + 1);
    } else if (mine !== undefined && theirs !== undefined && meet(mine, theirs)) next.push(at + width + 1);
    open.push(...next.filter((place) => !seen.has(place)));
    for (const place of next) seen.add(place);
  }
  return false;
}

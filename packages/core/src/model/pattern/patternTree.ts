/** A regular expression as a tree. What matches is all that is asked, so groups and laziness are not in it. */
export type PatternTree =
  /** One character: itself, or one of a class as the language has it, e.g. `[a-z]`, `\p{L}`, `.`. */
  | { readonly kind: 'character'; readonly code: number }
  | { readonly kind: 'class'; readonly source: string }
  | { readonly kind: 'place'; readonly place: PatternPlace }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'choice'; readonly ways: readonly PatternTree[] }
  | {
      readonly kind: 'repeated';
      readonly part: PatternTree;
      readonly least: number;
      /** Infinity where there is no end. */
      readonly most: number;
    };

/** A place between two characters. */
export type PatternPlace = 'start' | 'end' | 'boundary' | 'inside';

/** What cannot be matched in a time that grows with the text alone. */
export class NotLinear extends Error {}

/**
 * Reads a regular expression that the language itself has taken with the flag `u`; so only what is well-formed comes
 * here, and every sign has one meaning. Throws `NotLinear`.
 */
export function parsePattern(source: string): PatternTree {
  const reader = new Reader(source);
  return reader.choice(0);
}

/** A pattern of a person's is nested far less. */
const DEEPEST = 100;

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(depth: number): PatternTree {
    if (depth > DEEPEST) throw new NotLinear(`more than ${DEEPEST} groups inside each other`);
    const ways = [this.#sequence(depth)];
    while (this.#take('|')) ways.push(this.#sequence(depth));
    return ways.length === 1 ? (ways[0] as PatternTree) : { kind: 'choice', ways };
  }

  #sequence(depth: number): PatternTree {
    const parts: PatternTree[] = [];
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) {
      parts.push(this.#repeated(this.#part(depth)));
    }
    return { kind: 'sequence', parts };
  }

  #repeated(part: PatternTree): PatternTree {
    const found = this.#read(QUANTIFIER);
    if (found === null) return part;
    const [, sign, first, comma, last] = found;
    if (sign === '*') return { kind: 'repeated', part, least: 0, most: Number.POSITIVE_INFINITY };
    if (sign === '+') return { kind: 'repeated', part, least: 1, most: Number.POSITIVE_INFINITY };
    if (sign === '?') return { kind: 'repeated', part, least: 0, most: 1 };
    const least = Number(first);
    const end = last === undefined || last === '' ? Number.POSITIVE_INFINITY : Number(last);
    return { kind: 'repeated', part, least, most: comma === undefined ? least : end };
  }

  #part(depth: number): PatternTree {
    if (this.#take('^')) return { kind: 'place', place: 'start' };
    if (this.#take('$')) return { kind: 'place', place: 'end' };
    if (this.#take('.')) return { kind: 'class', source: '.' };
    if (this.#take('(')) return this.#group(depth);
    if (this.#sees('[')) return this.#class();
    if (this.#sees('\\')) return this.#escape();
    const code = this.#source.codePointAt(this.#at) as number;
    this.#at += code > 0xffff ? 2 : 1;
    return { kind: 'character', code };
  }

  #group(depth: number): PatternTree {
    if (this.#take('?')) {
      const look = LOOKS.find(([signs]) => this.#sees(signs));
      if (look !== undefined) throw new NotLinear(`a ${look[1]} (\`(?${look[0]}\`)`);
      if (this.#take('<')) this.#at = this.#source.indexOf('>', this.#at) + 1;
      else if (!this.#take(':')) throw new NotLinear('flags inside the pattern (`(?i:`)');
    }
    const inner = this.choice(depth + 1);
    this.#at += 1;
    return inner;
  }

  #class(): PatternTree {
    const from = this.#at;
    for (this.#at += 1; !this.#sees(']'); this.#at += 1) if (this.#sees('\\')) this.#at += 1;
    this.#at += 1;
    return { kind: 'class', source: this.#source.slice(from, this.#at) };
  }

  #escape(): PatternTree {
    const sign = this.#source[this.#at + 1] as string;
    if (sign === 'b' || sign === 'B') {
      this.#at += 2;
      return { kind: 'place', place: sign === 'b' ? 'boundary' : 'inside' };
    }
    if (sign === 'k' || /[1-9]/.test(sign)) throw new NotLinear(`a backreference (\`\\${sign}\`)`);
    const [one] = this.#read(ESCAPE) as RegExpExecArray;
    return { kind: 'class', source: one };
  }

  #sees(signs: string): boolean {
    return this.#source.startsWith(signs, this.#at);
  }

  #take(signs: string): boolean {
    if (!this.#sees(signs)) return false;
    this.#at += signs.length;
    return true;
  }

  /** What a sticky expression finds here. */
  #read(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found !== null) this.#at += found[0].length;
    return found;
  }
}

const LOOKS = [
  ['=', 'lookahead'],
  ['!', 'lookahead'],
  ['<=', 'lookbehind'],
  ['<!', 'lookbehind'],
] as const;

const QUANTIFIER = /(?:([*+?])|\{(\d+)(,(\d*))?\})\??/y;
// Two halves of a pair are one character; each else is what the language takes as one.
const ESCAPE =
  /\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)/suy;

/** A short text that a regular expression may match; the caller must try it, as not every expression is understood. */
export function sampleText(pattern: string): string {
  const reader = new PatternReader(pattern);
  return reader.choice();
}

/** Reads the usual parts of a pattern and writes the least each asks for. What it does not know it takes as it stands. */
class PatternReader {
  readonly #signs: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#signs = [...pattern];
  }

  /** The first of the ways a `|` offers. */
  choice(): string {
    const first = this.#sequence();
    while (this.#take('|')) this.#sequence();
    return first;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#signs.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const part = this.#part();
      text += part.repeat(this.#least());
    }
    return text;
  }

  #part(): string {
    const sign = this.#next();
    switch (sign) {
      case '^':
      case '$':
        return '';
      case '.':
        return 'a';
      case '\\':
        return escaped(this.#next());
      case '[':
        return this.#class();
      case '(':
        return this.#group();
      default:
        return sign;
    }
  }

  #group(): string {
    let looksOnly = false;
    if (this.#take('?')) {
      if (this.#take('<')) {
        looksOnly = this.#peek() === '=' || this.#peek() === '!';
        while (!looksOnly && this.#next() !== '>' && this.#at < this.#signs.length);
      }
      const kind = looksOnly || this.#peek() === ':' || this.#peek() === '=' || this.#peek() === '!';
      looksOnly ||= this.#peek() === '=' || this.#peek() === '!';
      if (kind) this.#next();
    }
    const text = this.choice();
    this.#take(')');
    return looksOnly ? '' : text;
  }

  #class(): string {
    const negated = this.#take('^');
    const members: string[] = [];
    while (this.#at < this.#signs.length && this.#peek() !== ']') {
      const sign = this.#next();
      members.push(sign === '\\' ? escaped(this.#next()) : sign);
    }
    this.#take(']');
    if (!negated) return members[0] ?? '';
    return ['a', '0', ' ', '_', 'Z'].find((sign) => !members.includes(sign)) ?? '~';
  }

  #least(): number {
    if (this.#take('*') || this.#take('?')) return this.#lazy(0);
    if (this.#take('+')) return this.#lazy(1);
    const counted = /^\{(\d+)(?:,\d*)?\}/.exec(this.#signs.slice(this.#at, this.#at + 12).join(''));
    if (counted === null) return 1;
    this.#at += counted[0].length;
    return this.#lazy(Math.min(Number(counted[1]), 1000));
  }

  #lazy(count: number): number {
    this.#take('?');
    return count;
  }

  #peek(): string {
    return this.#signs[this.#at] ?? '';
  }

  #next(): string {
    const sign = this.#peek();
    this.#at += 1;
    return sign;
  }

  #take(sign: string): boolean {
    if (this.#peek() !== sign) return false;
    this.#at += 1;
    return true;
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  d: '0',
  D: 'a',
  w: 'a',
  W: ' ',
  s: ' ',
  S: 'a',
  n: '\n',
  r: '\r',
  t: '\t',
  b: '',
  B: '',
};

function escaped(sign: string): string {
  return CLASSES[sign] ?? sign;
}

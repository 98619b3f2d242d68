const INLINE =
  /<\/?(?:a|abbr|b|code|del|em|font|i|ins|kbd|mark|s|small|span|strong|sub|sup|u|wbr)\b[^<>]*>/gi;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  colon: ':',
  gt: '>',
  lt: '<',
  period: '.',
  quot: '"',
  rsquo: "'",
  shy: '',
  zerowidthspace: '',
  zwj: '',
  zwnj: '',
};

/** Prose as a reader sees it: without tags, entities and letters that take no room. Line ends stay. */
export function plainProse(text: string): string {
  return (
    text
      .replace(INLINE, '')
      .replace(/<\/?[A-Za-z][^<>]*>/g, ' ')
      .replace(/&(#x[\da-f]+|#\d+|[a-z]+);/gi, (_, name: string) => letterOf(name.toLowerCase()))
      .normalize('NFKC')
      // Letters that take no room would break a word in two for the one who reads with patterns.
      .replace(/\p{Cf}/gu, '')
      .replace(/’/g, "'")
      .replace(/[^\S\n]+/g, ' ')
  );
}

function letterOf(name: string): string {
  if (name.startsWith('#')) {
    const code = name.startsWith('#x')
      ? Number.parseInt(name.slice(2), 16)
      : Number.parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
  }
  return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : ' ';
}

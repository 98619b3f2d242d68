// Everything that some program takes for the end of a line.
const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;
// Controls, marks that turn the direction of text, everything without a shape of its own, and every space but the
// plain one: what somebody else wrote must look like what it is.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;

/** The lines of a text, whatever ends them. */
export function linesOf(text: string): readonly string[] {
  return text.split(LINE_END);
}

/** Words of somebody else inside a line of ours: on that line, with everything visible that cannot be seen. */
export function oneLine(text: string): string {
  return linesOf(text)
    .map((line) => line.replace(UNSEEN, escapeOf))
    .join('\\n');
}

/** The text with every character that cannot be seen, or that a terminal obeys, made something else. */
export function replaceUnseen(text: string, by: (character: string, offset: number) => string): string {
  return text.replace(UNSEEN, by);
}

/** JSON text in which everything can be seen; its value stays the same. */
export function unseenAsJson(json: string): string {
  return json.replace(UNSEEN, (character) => (character === '\n' ? character : unitsOf(character)));
}

/** The text without what cannot be seen. */
export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, '');
}

// Longer, a terminal breaks it: its words must not read like a line of ours where it goes on.
const LONG = 60;

/** A word as a shell reads it back, on one line. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (word.length <= LONG && word.search(UNSEEN) === -1) return `'${word.replaceAll("'", `'\\''`)}'`;
  const inside = word
    .replace(/[\\']/g, (character) => `\\${character}`)
    .replaceAll(' ', '\\040')
    .replace(UNSEEN, bytesOf);
  return `$'${inside}'`;
}

/** A value as a block of JSON, in which no text can begin a line. */
export function fencedJson(value: unknown): string {
  const lines = JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replace(UNSEEN, unitsOf));
  return `\`\`\`json\n${lines.join('\n')}\n\`\`\``;
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** As JSON escapes it: by its UTF-16 units. */
function unitsOf(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** As `$'…'` escapes it: three octal digits for each byte of its UTF-8, which no digit after them can lengthen. */
function bytesOf(character: string): string {
  return encodeURIComponent(character.toWellFormed()).replace(
    /%(..)/g,
    (_, hex: string) => `\\${Number.parseInt(hex, 16).toString(8).padStart(3, '0')}`,
  );
}

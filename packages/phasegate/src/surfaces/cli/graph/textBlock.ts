/** Lines of text with the room they need. */
export interface TextBlock {
  readonly lines: readonly TextLine[];
  readonly width: number;
  readonly height: number;
}

/** One line of text. */
export interface TextLine {
  readonly text: string;
  readonly size: number;
  readonly bold: boolean;
}

/** A paragraph to be set. */
export interface Paragraph {
  readonly text: string;
  readonly size: number;
  readonly bold?: boolean;
}

/** The height of a line as a multiple of its font size. */
export const LINE_HEIGHT = 1.35;

/** Breaks paragraphs into lines no wider than `room`. A word that is wider itself is broken. */
export function textBlock(paragraphs: readonly Paragraph[], room: number): TextBlock {
  const lines = paragraphs.flatMap(({ text, size, bold = false }) =>
    breakLines(text, size, room).map((line): TextLine => ({ text: line, size, bold })),
  );
  return {
    lines,
    width: Math.ceil(Math.max(0, ...lines.map((line) => textWidth(line.text, line.size)))),
    height: Math.ceil(lines.reduce((sum, line) => sum + line.size * LINE_HEIGHT, 0)),
  };
}

/**
 * The width of a text, estimated on the wide side: there is no font to measure here, and a label with air around
 * it is better than one that leaves its box.
 */
export function textWidth(text: string, size: number): number {
  let ems = 0;
  for (const character of text) ems += characterWidth(character);
  return ems * size;
}

function characterWidth(character: string): number {
  if (/[ijlI.,:;'|!()[\] ]/u.test(character)) return 0.38;
  if (/[mwMW@%]/u.test(character)) return 0.98;
  if (/[\p{Lu}=<>&+×]/u.test(character) && character < '\u1100') return 0.76;
  if (character >= '\u1100') return character < '\u2e80' ? 0.9 : 1.1;
  return 0.63;
}

function breakLines(text: string, size: number, room: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((part) => breakWord(part, size, room))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && textWidth(longer, size) > room) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}

function breakWord(word: string, size: number, room: number): string[] {
  if (textWidth(word, size) <= room) return [word];
  const pieces: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && textWidth(piece + character, size) > room) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...pieces, piece];
}

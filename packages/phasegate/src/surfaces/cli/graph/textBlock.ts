import type { EvidenceClass } from '@phasegate/core/model';

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
  /** The mark before the line; its text and that of the lines that continue it are moved in. */
  readonly mark: EvidenceClass | null;
  readonly indent: number;
}

/** A paragraph to be set. */
export interface Paragraph {
  readonly text: string;
  readonly size: number;
  readonly bold?: boolean;
  readonly mark?: EvidenceClass | null;
}

/** The height of a line as a multiple of its font size. */
export const LINE_HEIGHT = 1.35;

/** The room a mark takes before its text. */
export const MARK_ROOM = 15;

/** Breaks paragraphs between words into lines no wider than `room`. A word is never broken: a longer one widens it all. */
export function textBlock(paragraphs: readonly Paragraph[], room: number): TextBlock {
  const lines = paragraphs.flatMap(({ text, size, bold = false, mark = null }) => {
    const indent = mark === null ? 0 : MARK_ROOM;
    return breakLines(text, size, room - indent).map(
      (line, index): TextLine => ({ text: line, size, bold, mark: index === 0 ? mark : null, indent }),
    );
  });
  return {
    lines,
    width: Math.ceil(Math.max(0, ...lines.map((line) => line.indent + textWidth(line.text, line.size)))),
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
  for (const word of text.split(' ')) {
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

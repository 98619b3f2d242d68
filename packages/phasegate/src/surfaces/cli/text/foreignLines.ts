import { stripVTControlCharacters } from 'node:util';
import { linesOf, oneLine } from '@phasegate/core/model';

/** Columns that every terminal has. */
export const SCREEN = 80;

const MARK = '| ';
const LEAST = 20;

/**
 * Words of somebody else, each line behind a mark and none longer than the screen. Lines are broken here and not by the
 * terminal: what a terminal breaks goes on at the left edge, where only lines of ours may stand.
 */
export function foreignLines(text: string, width: number): readonly string[] {
  // One column stays free: some terminals break a line that fills the last.
  const room = Math.max(LEAST, width - MARK.length - 1);
  return linesOf(text).flatMap((line) => broken(oneLine(line), room).map((part) => `${MARK}${part}`));
}

/** The same for words that begin on a line of ours, behind what stands there already: only further lines are marked. */
export function foreignRest(text: string, { before, width }: { before: string; width: number }): string {
  const [first = '', ...more] = linesOf(text);
  const room = Math.max(LEAST, width - before.length - 1);
  const [head = '', ...rest] = broken(oneLine(first), room);
  const further = [...(rest.length === 0 ? [] : [rest.join('')]), ...more].join('\n');
  const lines = further === '' && more.length === 0 ? [] : foreignLines(further, width);
  return [`${before}${head}`, ...lines].join('\n');
}

/** A line in parts that fit the room, behind a blank where one is near; nothing of it is left out. */
export function broken(line: string, room: number): readonly string[] {
  const lines: string[] = [];
  let current: string[] = [];
  for (const character of line) {
    if (columnsOfAll(current) + columnsOf(character) > room) {
      const blank = current.lastIndexOf(' ') + 1;
      const end = blank > current.length / 2 ? blank : current.length;
      lines.push(current.slice(0, end).join(''));
      current = current.slice(end);
    }
    current.push(character);
  }
  return [...lines, current.join('')];
}

function columnsOfAll(characters: readonly string[]): number {
  return characters.reduce((sum, character) => sum + columnsOf(character), 0);
}

/** The beginning of a text, where all of it does not fit; how much room it takes is never more than this. */
export function shortened(text: string, columns: number): string {
  if (columnsIn(text) <= columns) return text;
  const [start = ''] = broken(text, Math.max(0, columns - CUT.length));
  return `${start}${CUT}`.slice(0, Math.max(0, columns));
}

const CUT = '...';

/** How many columns a text takes at most; colours take none. */
export function columnsIn(text: string): number {
  return columnsOfAll([...stripVTControlCharacters(text)]);
}

/** Terminals do not agree on the width of what is not ASCII: none is wider than two. */
function columnsOf(character: string): number {
  return character >= ' ' && character <= '~' ? 1 : 2;
}

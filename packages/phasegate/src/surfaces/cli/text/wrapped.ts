import { broken, columnsIn } from './foreignLines.ts';

/** A text of ours on lines no longer than the screen, broken between words; further lines are indented. */
export function wrapped(text: string, width: number, indent = ''): readonly string[] {
  const lines: string[] = [];
  let line = '';
  // One column stays free: some terminals break a line that fills the last.
  const room = Math.max(20, width - 1);
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line.trim() !== '' && columnsIn(longer) > room) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = longer;
    }
  }
  // A word that no line has room for is broken all the same, and goes on behind the indent: only we begin lines.
  return [...lines, line].flatMap((one) => {
    if (columnsIn(one) <= room) return [one];
    const [first = '', ...rest] = broken(one, room);
    return [first, ...broken(rest.join(''), room - indent.length).map((part) => `${indent}${part}`)];
  });
}

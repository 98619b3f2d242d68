import { stripVTControlCharacters } from 'node:util';

/** Rows in columns, two blanks apart; a cell has one line, whatever a file is called. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll('\n', '\\n')));
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Lines of `label  value`, with further lines of a value under its first. */
export function facts(rows: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length));
  const indent = ' '.repeat(width + 2);
  return rows
    .map(([label, value]) => `${label.padEnd(width)}  ${value.replaceAll('\n', `\n${indent}`)}`)
    .join('\n');
}

// Colours take no room on the screen.
function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length;
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

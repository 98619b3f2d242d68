import type { Paint } from '../paint.ts';
import type { Panel, Row } from './panels.ts';

const WIDTH = 30;
const LONGEST = 48;

/** Panels as bars of blocks, all on one scale: a bar over the whole width is all. */
export function textPlot(panels: readonly Panel[], paint: Paint): string {
  const shown = panels.flatMap(({ rows }) => rows.map(({ label }) => cut(label).length));
  const width = Math.max(0, ...shown);
  return panels
    .map(({ title, rows, otherwise }) => {
      const lines = rows.map((row) => {
        const bar = paintBar(row, blocks(row.share), paint);
        return `  ${cut(row.label).padEnd(width)}  ${bar}${bar === '' ? '' : ' '}${row.value}`;
      });
      return [paint.bold(title), ...(rows.length === 0 ? [`  ${otherwise}`] : lines)].join('\n');
    })
    .join('\n\n');
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function blocks(share: number): string {
  const eighths = Math.round(share * WIDTH * 8);
  // What is there at all is seen.
  if (share > 0 && eighths === 0) return '▏';
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

function paintBar({ tone }: Row, bar: string, paint: Paint): string {
  if (tone === 'stuck') return paint.red(bar);
  if (tone === 'human') return paint.yellow(bar);
  return tone === 'agent' ? paint.cyan(bar) : bar;
}

function cut(label: string): string {
  return label.length <= LONGEST ? label : `${label.slice(0, LONGEST - 1)}…`;
}

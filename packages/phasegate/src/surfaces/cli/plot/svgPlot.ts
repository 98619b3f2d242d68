import { plain } from '../graph/label.ts';
import { GROUND, NEUTRAL, PALETTE } from '../graph/palette.ts';
import { svgSheet, xml } from '../graph/svgParts.ts';
import { textWidth } from '../graph/textBlock.ts';
import type { Panel, Row } from './panels.ts';

/** What a drawing shows. */
export interface Drawing {
  readonly title: string;
  /** One line under the title. */
  readonly summary: string;
  readonly panels: readonly Panel[];
}

/** The panels as one SVG that stands alone, light or dark as the page around it. All bars are on one scale. */
export function svgPlot({ title, summary, panels }: Drawing): string {
  const heading = plain(title, 100);
  const told = plain(summary, 160);
  const labels = panels.flatMap(({ rows }) => rows.map(({ label }) => textWidth(plain(label, 60), SIZE)));
  const left = MARGIN + Math.ceil(Math.max(120, ...labels)) + 12;
  const width = Math.ceil(Math.max(left + BAR + 90, textWidth(heading, 18) + 48, textWidth(told, 12) + 48));
  let y = 64;
  const parts = panels.map((panel) => {
    const drawn = drawPanel(panel, { y, left });
    y = drawn.y;
    return drawn.text;
  });
  const height = y + 8;
  return svgSheet({
    width,
    height,
    title: heading,
    description: inWords(told, panels),
    body: [
      `<rect width="${width}" height="${height}" fill="${GROUND}"/>`,
      text(heading, { x: MARGIN, y: 30, size: 18, bold: true }),
      text(told, { x: MARGIN, y: 50, size: 12 }),
      ...parts,
    ],
  });
}

const MARGIN = 24;
const SIZE = 12;
const STEP = 22;
const BAR = 320;

const TONES: Readonly<Record<Row['tone'], { readonly fill: string; readonly stroke: string }>> = {
  plain: NEUTRAL,
  agent: PALETTE.current,
  human: PALETTE.waiting,
  stuck: PALETTE.escalated,
};

function drawPanel(
  { title, rows, otherwise }: Panel,
  at: { readonly y: number; readonly left: number },
): { readonly text: string; readonly y: number } {
  const head = at.y + 22;
  const first = head + 20;
  const parts = rows.map((row, index) => {
    const baseline = first + index * STEP;
    const { fill, stroke } = TONES[row.tone];
    const length = row.share === 0 ? 0 : Math.max(1, Math.round(row.share * BAR));
    return [
      text(plain(row.label, 60), { x: at.left - 10, y: baseline, size: SIZE, end: true }),
      `<rect x="${at.left}" y="${baseline - 12}" width="${length}" height="16" rx="2" fill="${fill}" stroke="${stroke}"/>`,
      text(row.value, { x: at.left + length + 8, y: baseline, size: SIZE }),
    ].join('');
  });
  if (rows.length === 0) parts.push(text(otherwise, { x: MARGIN, y: first, size: SIZE }));
  return {
    text: `<g>${text(title, { x: MARGIN, y: head, size: 14, bold: true })}${parts.join('\n')}</g>`,
    y: first + Math.max(1, rows.length) * STEP - 6,
  };
}

function text(
  words: string,
  {
    x,
    y,
    size,
    bold = false,
    end = false,
  }: {
    readonly x: number;
    readonly y: number;
    readonly size: number;
    readonly bold?: boolean;
    readonly end?: boolean;
  },
): string {
  const style = `${bold ? ' font-weight="600"' : ''}${end ? ' text-anchor="end"' : ''}`;
  return `<text x="${x}" y="${y}" font-size="${size}"${style} fill="${NEUTRAL.text}">${xml(words)}</text>`;
}

/** All of it in sentences, for readers who cannot see it. */
function inWords(summary: string, panels: readonly Panel[]): string {
  const told = panels.map(({ title, rows, otherwise }) => {
    const parts = rows.map(({ label, value }) => `${plain(label, 60)} ${value}`);
    return `${title}: ${parts.length === 0 ? otherwise : parts.join('; ')}.`;
  });
  return [`${summary}.`, ...told].join(' ');
}

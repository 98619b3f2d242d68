import { round } from './curve.ts';
import type { Point } from './layout.ts';
import { DARK } from './palette.ts';
import { LINE_HEIGHT, type TextBlock, type TextLine } from './textBlock.ts';

/** What every picture begins and ends with. */
export interface Sheet {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** All of it in sentences, for readers who cannot see it. */
  readonly description: string;
  readonly body: readonly string[];
}

const FONTS = 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, DejaVu Sans, sans-serif';

/**
 * One SVG that stands alone: no fonts, scripts, ids or anything from elsewhere, so that it can be opened as a file or put
 * into a page beside others. Its one style says what each colour is on a dark page; without it, the picture is light.
 */
export function svgSheet({ width, height, title, description, body }: Sheet): string {
  const drawn = body.filter((part) => part !== '').join('\n');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="phasegate-picture" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONTS}">`,
    `<title>${xml(title)}</title>`,
    `<desc>${xml(description)}</desc>`,
    `<style>@media (prefers-color-scheme: dark) {${darkRules(drawn)}}</style>`,
    drawn,
    '</svg>\n',
  ].join('\n');
}

/** Lines below each other around a height. */
export function drawText(
  block: TextBlock,
  { x, y, anchor, colour }: Point & { readonly anchor: 'start' | 'middle' | 'end'; readonly colour: string },
): string {
  let top = y - block.height / 2;
  const marks: string[] = [];
  const lines = block.lines.map((line) => {
    const { text, size, bold, indent } = line;
    // The baseline lies about one font size below the middle of the leading above it.
    const baseline = round(top + (size * (LINE_HEIGHT - 1)) / 2 + size * 0.82);
    if (line.mark !== null) marks.push(drawMark(line.mark, { x: x + 5, y: baseline - size * 0.33 }, colour));
    top += size * LINE_HEIGHT;
    const weight = bold ? ' font-weight="600"' : '';
    return `<tspan x="${round(x + indent)}" y="${baseline}" font-size="${size}"${weight}>${xml(text)}</tspan>`;
  });
  const anchored = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `${marks.join('')}<text${anchored} fill="${colour}">${lines.join('')}</text>`;
}

/** A ring for what is claimed, half filled for what was observed, filled for what was verified. */
export function drawMark(mark: NonNullable<TextLine['mark']>, { x, y }: Point, colour: string): string {
  const [cx, cy] = [round(x), round(y)];
  const fill = mark === 'verified' ? colour : 'none';
  const ring = `<circle cx="${cx}" cy="${cy}" r="3.6" fill="${fill}" stroke="${colour}" stroke-width="1.3"/>`;
  if (mark !== 'observed') return ring;
  return `${ring}<path d="M${cx} ${round(y - 3.6)}A3.6 3.6 0 0 1 ${cx} ${round(y + 3.6)}Z" fill="${colour}"/>`;
}

/** Text as XML writes it. */
export function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A style outweighs an attribute, so the attributes say what is drawn where no style is read. */
function darkRules(drawn: string): string {
  return (['fill', 'stroke'] as const)
    .flatMap((name) =>
      Object.entries(DARK)
        .filter(([light]) => drawn.includes(`${name}="${light}"`))
        .map(([light, dark]) => `.phasegate-picture [${name}="${light}"]{${name}:${dark}}`),
    )
    .join('');
}

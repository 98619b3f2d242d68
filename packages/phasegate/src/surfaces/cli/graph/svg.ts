import type { PhaseId } from '@phasegate/core';
import type { GraphEdge, GraphNode, NodeStatus, WorkflowGraph } from '@phasegate/core/model';
import { type Curve, curveThrough, round } from './curve.ts';
import { coverageText, edgeLabel, plain, timesText } from './label.ts';
import { BEGIN_RADIUS, layOut, type PlacedEdge, type PlacedNode, type Point, TIP } from './layout.ts';
import {
  type Colours,
  coloursOf,
  EXTENTS,
  extentOf,
  extentsIn,
  isUnseen,
  NEUTRAL,
  PALETTE,
  UNSEEN_EDGE,
} from './palette.ts';
import { LINE_HEIGHT, type TextBlock, textWidth } from './textBlock.ts';

/**
 * The graph as one SVG that stands alone: no fonts, styles, scripts or ids, so that it can be opened as a file
 * or put into a page beside others.
 */
export async function toSvg(graph: WorkflowGraph): Promise<string> {
  const layout = await layOut(graph);
  const heading = plain(graph.title, 100);
  const legend = legendOf(graph);
  const summary = graph.coverage === undefined ? '' : coverageText(graph.coverage);
  const room = [
    layout.width,
    textWidth(heading, HEADING_SIZE) + 48,
    textWidth(summary, SUMMARY_SIZE) + 48,
    legendWidth(legend) + 48,
  ];
  const width = Math.ceil(Math.max(...room));
  const top = HEADING_ROOM + (summary === '' ? 0 : SUMMARY_ROOM);
  const height = Math.ceil(layout.height + top + (legend.length > 0 ? LEGEND_ROOM : 0));
  const shift = round((width - layout.width) / 2);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONTS}">`,
    `<title>${xml(`Workflow: ${heading}`)}</title>`,
    `<desc>${xml(inWords(graph))}</desc>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${round(width / 2)}" y="32" text-anchor="middle" font-size="${HEADING_SIZE}" font-weight="600" fill="${NEUTRAL.text}">${xml(heading)}</text>`,
    summary === ''
      ? ''
      : `<text x="${round(width / 2)}" y="54" text-anchor="middle" font-size="${SUMMARY_SIZE}" fill="${NEUTRAL.text}">${xml(summary)}</text>`,
    `<g transform="translate(${shift} ${top})">`,
    drawLine(curveThrough(layout.entry), EDGE, ''),
    ...layout.edges.map(drawEdge),
    `<circle cx="${round(layout.begin.x)}" cy="${round(layout.begin.y)}" r="${BEGIN_RADIUS}" fill="${EDGE}"/>`,
    ...layout.nodes.map(drawNode),
    ...layout.edges.map(drawLabel),
    '</g>',
    drawLegend(legend, { x: 24, y: height - 28 }),
    '</svg>\n',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

const FONTS = 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, DejaVu Sans, sans-serif';
const HEADING_SIZE = 18;
const HEADING_ROOM = 40;
const SUMMARY_SIZE = 13;
const SUMMARY_ROOM = 22;
const LEGEND_ROOM = 36;
const LEGEND_SIZE = 12;
const EDGE = '#4a5263';
const HUMAN_EDGE = '#6b2fa0';

function drawNode(placed: PlacedNode): string {
  const { fill, stroke, text } = coloursOf(placed.node);
  const broken = extentOf(placed.node) === 'never' ? BROKEN : '';
  const width = isHere(placed.node) ? 3 : 1.5;
  const outline = drawOutline(placed, `fill="${fill}" stroke="${stroke}" stroke-width="${width}"${broken}`);
  return `<g>${outline}${drawText(placed.text, placed, text)}</g>`;
}

const BROKEN = ' stroke-dasharray="5 4"';

function isHere({ status }: GraphNode): boolean {
  return status !== null && status !== 'ahead' && status !== 'completed';
}

function drawOutline({ node, x, y, width, height }: PlacedNode, paint: string): string {
  const left = round(x - width / 2);
  const right = round(x + width / 2);
  const upper = round(y - height / 2);
  const lower = round(y + height / 2);
  if (node.human) {
    const corners = [
      [left, y],
      [left + TIP, upper],
      [right - TIP, upper],
      [right, y],
      [right - TIP, lower],
      [left + TIP, lower],
    ];
    return `<polygon points="${corners.map(([a = 0, b = 0]) => `${round(a)},${round(b)}`).join(' ')}" ${paint}/>`;
  }
  const radius = node.kind === 'end' ? round(height / 2) : 7;
  return `<rect x="${left}" y="${upper}" width="${width}" height="${height}" rx="${radius}" ${paint}/>`;
}

function drawEdge({ edge, points }: PlacedEdge): string {
  const dashes = isUnseen(edge.coverage) ? '2 4' : edge.back ? '6 5' : '';
  const style = `${edge.human ? ' stroke-width="2.2"' : ''}${dashes === '' ? '' : ` stroke-dasharray="${dashes}"`}`;
  return drawLine(curveThrough(points), colourOf(edge), style);
}

function colourOf(edge: GraphEdge): string {
  if (isUnseen(edge.coverage)) return UNSEEN_EDGE;
  return edge.human ? HUMAN_EDGE : EDGE;
}

function drawLine({ path, head }: Curve, colour: string, style: string): string {
  const width = style.includes('stroke-width') ? '' : ' stroke-width="1.5"';
  return `<path d="${path}" fill="none" stroke="${colour}"${width}${style}/><path d="${head}" fill="${colour}"/>`;
}

function drawLabel({ edge, label }: PlacedEdge): string {
  if (label === null) return '';
  const { text, x, y } = label;
  const width = text.width + 8;
  const height = text.height + 4;
  const back = `<rect x="${round(x - width / 2)}" y="${round(y - height / 2)}" width="${width}" height="${height}" rx="3" fill="#ffffff" fill-opacity="0.92"/>`;
  return `<g>${back}${drawText(text, label, colourOf(edge))}</g>`;
}

function drawText(block: TextBlock, { x, y }: Point, colour: string): string {
  let top = y - block.height / 2;
  const lines = block.lines.map(({ text, size, bold }) => {
    // The baseline lies about one font size below the middle of the leading above it.
    const baseline = round(top + (size * (LINE_HEIGHT - 1)) / 2 + size * 0.82);
    top += size * LINE_HEIGHT;
    const weight = bold ? ' font-weight="600"' : '';
    return `<tspan x="${round(x)}" y="${baseline}" font-size="${size}"${weight}>${xml(text)}</tspan>`;
  });
  return `<text text-anchor="middle" fill="${colour}">${lines.join('')}</text>`;
}

interface LegendItem {
  readonly words: string;
  readonly colours: Colours;
  readonly more: string;
}

function legendOf(graph: WorkflowGraph): readonly LegendItem[] {
  if (graph.coverage !== undefined) {
    return extentsIn(graph).map((extent) => {
      const { words, ...colours } = EXTENTS[extent];
      return { words, colours, more: extent === 'never' ? BROKEN : '' };
    });
  }
  if (graph.run === null) return [];
  const all = Object.keys(PALETTE) as NodeStatus[];
  return all
    .filter((status) => graph.nodes.some((node) => node.status === status))
    .map((status) => ({ words: status, colours: PALETTE[status], more: '' }));
}

const SWATCH = 14;
const legendItemWidth = (words: string) => SWATCH + 6 + Math.ceil(textWidth(words, LEGEND_SIZE)) + 18;

function legendWidth(legend: readonly LegendItem[]): number {
  return legend.reduce((sum, { words }) => sum + legendItemWidth(words), 0);
}

function drawLegend(legend: readonly LegendItem[], corner: Point): string {
  let { x } = corner;
  const items = legend.map(({ words, colours: { fill, stroke }, more }) => {
    const swatch = `<rect x="${x}" y="${corner.y}" width="${SWATCH}" height="${SWATCH}" rx="3" fill="${fill}" stroke="${stroke}" stroke-width="1.5"${more}/>`;
    const word = `<text x="${x + SWATCH + 6}" y="${corner.y + 11}" font-size="${LEGEND_SIZE}" fill="${NEUTRAL.text}">${words}</text>`;
    x += legendItemWidth(words);
    return swatch + word;
  });
  return items.length === 0 ? '' : `<g>${items.join('')}</g>`;
}

/** The whole graph in sentences, for who cannot see it. */
function inWords(graph: WorkflowGraph): string {
  const names = new Map(graph.nodes.map((node) => [node.id, plain(node.name, 80)]));
  const name = (id: PhaseId | null) => (id === null ? 'the end' : (names.get(id) ?? String(id)));
  const phases = graph.nodes.filter((node) => node.kind === 'phase');
  const sentences = [`${phases.length} phases, starting at ${name(graph.entry)}.`];
  if (graph.run !== null) {
    const place = graph.run.phase === null ? '' : ` at ${name(graph.run.phase)}`;
    sentences.push(`The run is ${graph.run.status}${place}.`);
  }
  if (graph.coverage !== undefined) sentences.push(`${coverageText(graph.coverage)}.`);
  for (const { id, coverage } of graph.nodes) {
    if (coverage !== undefined) sentences.push(`${name(id)}: ${timesText(coverage)}.`);
  }
  for (const edge of graph.edges) {
    const seen = edge.coverage === undefined ? '' : ` (${timesText(edge.coverage)})`;
    const back = edge.back ? ' back' : '';
    sentences.push(`${name(edge.from)} leads${back} to ${name(edge.to)}${why(edge)}${seen}.`);
  }
  return sentences.join(' ');
}

function why(edge: GraphEdge): string {
  const label = edgeLabel(edge);
  if (edge.human) return `, if a human chooses ${label}`;
  return label === '' ? '' : `: ${label}`;
}

function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

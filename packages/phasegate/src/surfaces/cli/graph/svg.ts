import type { PhaseId } from '@phasegate/core';
import {
  EVIDENCE_CLASSES,
  type EvidenceClass,
  type GraphEdge,
  type GraphNode,
  type NodeStatus,
  type WorkflowGraph,
} from '@phasegate/core/model';
import { type Curve, lineAlong, round } from './curve.ts';
import { coverageText, edgeLabel, plain, timesText } from './label.ts';
import {
  BEGIN_RADIUS,
  END_RADIUS,
  layOut,
  type PlacedEdge,
  type PlacedNode,
  type Point,
  TIP,
} from './layout.ts';
import {
  type Colours,
  coloursOf,
  EDGE,
  EXTENTS,
  extentOf,
  extentsIn,
  GROUND,
  HUMAN_EDGE,
  isUnseen,
  NEUTRAL,
  PALETTE,
  UNSEEN_EDGE,
} from './palette.ts';
import { drawMark, drawText, svgSheet, xml } from './svgParts.ts';
import { textWidth } from './textBlock.ts';

/** The graph as one SVG that stands alone, light or dark as the page around it. */
export function toSvg(graph: WorkflowGraph): string {
  const layout = layOut(graph);
  const heading = plain(graph.title, 100);
  const legends = [marksIn(graph), legendOf(graph)].filter((legend) => legend.length > 0);
  const summary = graph.coverage === undefined ? '' : coverageText(graph.coverage);
  const room = [
    layout.width,
    textWidth(heading, HEADING_SIZE) + 48,
    textWidth(summary, SUMMARY_SIZE) + 48,
    ...legends.map((legend) => legendWidth(legend) + 48),
  ];
  const width = Math.ceil(Math.max(...room));
  const top = HEADING_ROOM + (summary === '' ? 0 : SUMMARY_ROOM);
  const below = Math.ceil(layout.height + top);
  const height = below + (legends.length > 0 ? legends.length * LEGEND_STEP + 14 : 0);
  const shift = round((width - layout.width) / 2);
  const middle = `x="${round(width / 2)}" text-anchor="middle" fill="${NEUTRAL.text}"`;
  return svgSheet({
    width,
    height,
    title: `Workflow: ${heading}`,
    description: inWords(graph),
    body: [
      `<rect width="${width}" height="${height}" fill="${GROUND}"/>`,
      `<text ${middle} y="32" font-size="${HEADING_SIZE}" font-weight="600">${xml(heading)}</text>`,
      summary === '' ? '' : `<text ${middle} y="54" font-size="${SUMMARY_SIZE}">${xml(summary)}</text>`,
      `<g transform="translate(${shift} ${top})">`,
      drawLine(lineAlong(layout.entry), EDGE, ''),
      ...layout.edges.map(drawEdge),
      `<circle cx="${round(layout.begin.x)}" cy="${round(layout.begin.y)}" r="${BEGIN_RADIUS}" fill="${EDGE}"/>`,
      ...layout.nodes.map(drawNode),
      ...layout.edges.map(drawLabel),
      '</g>',
      ...legends.map((legend, index) => drawLegend(legend, { x: 24, y: below + index * LEGEND_STEP })),
    ],
  });
}

const HEADING_SIZE = 18;
const HEADING_ROOM = 40;
const SUMMARY_SIZE = 13;
const SUMMARY_ROOM = 22;
const LEGEND_STEP = 22;
const LEGEND_SIZE = 12;

function drawNode(placed: PlacedNode): string {
  const { fill, stroke, text } = coloursOf(placed.node);
  const broken = extentOf(placed.node) === 'never' ? BROKEN : '';
  const width = isHere(placed.node) ? 3 : 1.5;
  const outline = drawOutline(placed, `fill="${fill}" stroke="${stroke}" stroke-width="${width}"${broken}`);
  const { x, y, node, width: across } = placed;
  // What stands in a phase begins at its left, so that marks stand below each other.
  const words =
    node.kind === 'end'
      ? drawText(placed.text, { x, y, anchor: 'middle', colour: text })
      : drawText(placed.text, {
          x: x - across / 2 + 16 + (node.human ? TIP : 0),
          y,
          anchor: 'start',
          colour: text,
        });
  return `<g>${outline}${words}</g>`;
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
  const radius = node.kind === 'end' ? Math.min(END_RADIUS, round(height / 2)) : 7;
  return `<rect x="${left}" y="${upper}" width="${width}" height="${height}" rx="${radius}" ${paint}/>`;
}

function drawEdge({ edge, points, joins }: PlacedEdge): string {
  const dashes = isUnseen(edge.coverage) ? '2 4' : edge.back ? '6 5' : '';
  const style = `${edge.human ? ' stroke-width="2.2"' : ''}${dashes === '' ? '' : ` stroke-dasharray="${dashes}"`}`;
  return drawLine(lineAlong(points, joins), colourOf(edge), style);
}

function colourOf(edge: GraphEdge): string {
  if (isUnseen(edge.coverage)) return UNSEEN_EDGE;
  return edge.human ? HUMAN_EDGE : EDGE;
}

function drawLine({ path, head }: Curve, colour: string, style: string): string {
  const width = style.includes('stroke-width') ? '' : ' stroke-width="1.5"';
  const arrow = head === '' ? '' : `<path d="${head}" fill="${colour}"/>`;
  return `<path d="${path}" fill="none" stroke="${colour}"${width}${style}/>${arrow}`;
}

function drawLabel({ edge, label }: PlacedEdge): string {
  return label === null ? '' : drawText(label.text, { ...label, colour: colourOf(edge) });
}

type LegendItem = { readonly words: string } & (
  | { readonly mark: EvidenceClass }
  | { readonly mark?: never; readonly colours: Colours; readonly more: string }
);

const CLASSES: Readonly<Record<EvidenceClass, string>> = {
  claimed: "claimed: the agent's word",
  observed: 'observed: seen while it worked',
  verified: 'verified: the engine looks for itself',
};

/** The classes of what the phases ask for. */
function marksIn({ nodes }: WorkflowGraph): readonly LegendItem[] {
  const asked = new Set(nodes.flatMap(({ checks }) => checks.map((check) => check.class)));
  if (nodes.some(({ evidence }) => evidence.length > 0)) asked.add('claimed');
  return EVIDENCE_CLASSES.filter((mark) => asked.has(mark)).map((mark) => ({ words: CLASSES[mark], mark }));
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
  const items = legend.map((item) => {
    const { words } = item;
    const swatch =
      item.mark === undefined
        ? `<rect x="${x}" y="${corner.y}" width="${SWATCH}" height="${SWATCH}" rx="3" fill="${item.colours.fill}" stroke="${item.colours.stroke}" stroke-width="1.5"${item.more}/>`
        : drawMark(item.mark, { x: x + SWATCH / 2, y: corner.y + SWATCH / 2 }, NEUTRAL.text);
    const word = `<text x="${x + SWATCH + 6}" y="${corner.y + 11}" font-size="${LEGEND_SIZE}" fill="${NEUTRAL.text}">${xml(words)}</text>`;
    x += legendItemWidth(words);
    return swatch + word;
  });
  return items.length === 0 ? '' : `<g>${items.join('')}</g>`;
}

/** The whole graph in sentences, for readers who cannot see it. */
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
  for (const { id, evidence, checks } of graph.nodes) {
    const asked = [
      ...(evidence.length === 0 ? [] : [`evidence ${evidence.map((one) => plain(one, 80)).join(', ')}`]),
      ...checks.map((check) => `${plain(check.label, 80)} (${check.class})`),
    ];
    if (asked.length > 0) sentences.push(`${name(id)} asks for ${asked.join('; ')}.`);
  }
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

import type { GraphEdge, GraphNode, WorkflowGraph } from '@phasegate/core/model';
import { edgeLabel, nodeLabel, timesText } from './label.ts';
import { type Lane, lanesOf, type PortColumn, placesOf, portsAt, type Side, type SideWay } from './lanes.ts';
import { isUnseen } from './palette.ts';
import { type TextBlock, textBlock } from './textBlock.ts';

/** A graph with a place for everything, top to bottom. Coordinates are centres. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly begin: Point;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  /** From the start mark to the entry. */
  readonly entry: readonly Point[];
}

/** A place. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A node with its text and place. */
export interface PlacedNode extends Point {
  readonly node: GraphNode;
  readonly text: TextBlock;
  readonly width: number;
  readonly height: number;
}

/** An edge with its way and the place of its label, if it has one. */
export interface PlacedEdge {
  readonly edge: GraphEdge;
  readonly points: readonly Point[];
  /** Whether it ends on the line of another edge, which leads to the same node. */
  readonly joins: boolean;
  readonly label: PlacedLabel | null;
}

/** A label: the middle of its side that is next to the node or line it belongs to. */
export interface PlacedLabel extends Point {
  readonly text: TextBlock;
  readonly anchor: 'start' | 'end';
}

/** How far a hexagon's tips stand out. */
export const TIP = 18;

/** The radius of the mark where a run starts. */
export const BEGIN_RADIUS = 8;

/** The radius of the end's corners. */
export const END_RADIUS = 19;

const MARGIN = 24;
const GAP = 38;
const NODE_ROOM = 250;
const LABEL_ROOM = 180;
const BESIDE = 10;
const PITCH = 16;

/**
 * Lays a graph out: phases below each other in the author's order, ways to the following phase straight down, all other
 * ways at the sides. Words stand where no line can be: beside a straight way between two rows, where nothing runs
 * sideways, or above the line that leaves a row, in a column between the rows and the lanes, where nothing runs up or
 * down.
 */
export function layOut(graph: WorkflowGraph): Layout {
  const plan = planOf(graph);
  const rows = placeRows(graph, plan);
  const spans = plan.lanes.map((lane) => {
    const ys = [rows.port(lane.to, lane), ...lane.ways.map((way) => rows.leaving(plan.ways[way], way))];
    return { lane, from: Math.min(...ys), to: Math.max(...ys) };
  });
  const places = placesOf(spans);
  const zone = { left: zoneOf(plan, rows.widest, 'left'), right: zoneOf(plan, rows.widest, 'right') };
  const extent = (side: Side) => {
    const mine = plan.lanes.filter((lane) => lane.side === side).map((lane) => places.get(lane) ?? 0);
    if (mine.length > 0) return zone[side] + Math.max(...mine) * PITCH + 4;
    return Math.max(rows.widest / 2, side === 'right' ? straightRoom(plan) : 0);
  };
  const centre = MARGIN + extent('left');
  const laneX = (lane: Lane) => {
    const away = zone[lane.side] + (places.get(lane) ?? 0) * PITCH;
    return lane.side === 'left' ? centre - away : centre + away;
  };

  const nodes = rows.nodes.map((placed) => ({ ...placed, x: centre }));
  const begin = { x: centre, y: rows.begin };
  const outline = (row: number, y: number, side: Side) => {
    const placed = nodes[row - 1];
    const half = placed === undefined ? BEGIN_RADIUS : reachOf(placed, y);
    return { x: side === 'left' ? centre - half : centre + half, y };
  };
  const wayOf = (index: number): Way => {
    const straight = plan.straight.get(index);
    if (straight !== undefined) {
      const [upper, lower] = [rows.bottom(straight), rows.top(straight + 1)];
      const text = plan.labels[index] ?? null;
      const label: PlacedLabel | null =
        text === null ? null : { text, x: centre + BESIDE, y: (upper + lower - 8) / 2, anchor: 'start' };
      return { points: [upper, lower].map((y) => ({ x: centre, y })), joins: false, label };
    }
    const way = plan.sideOf.get(index) ?? -1;
    const lane = plan.lanes.find((some) => some.ways.includes(way)) as Lane;
    const from = (plan.ways[way] as SideWay).from;
    const y = rows.leaving(plan.ways[way], way);
    const end = rows.port(lane.to, lane);
    const first = [outline(from, y, lane.side), { x: laneX(lane), y }];
    const joins = lane.ways[0] !== way;
    const text = plan.labels[index] ?? null;
    const away = rows.widest / 2 + BESIDE;
    const label: PlacedLabel | null =
      text === null
        ? null
        : {
            text,
            x: lane.side === 'left' ? centre - away : centre + away,
            y: y - 5 - text.height / 2,
            anchor: lane.side === 'left' ? 'end' : 'start',
          };
    const points = joins
      ? [...first, { x: laneX(lane), y: y + Math.sign(end - y) * JOIN }]
      : [...first, { x: laneX(lane), y: end }, outline(lane.to, end, lane.side)];
    return { points, joins, label };
  };
  return {
    width: centre + extent('right') + MARGIN,
    height: rows.height,
    begin,
    nodes,
    edges: graph.edges.map((edge, index) => ({ edge, ...wayOf(index + 1) })),
    entry: wayOf(0).points,
  };
}

const JOIN = 12;

type Way = Omit<PlacedEdge, 'edge'>;

/** What leads where, in rows: 0 is the start mark, and the nodes follow. Way 0 leads from it to the entry. */
interface Plan {
  readonly labels: readonly (TextBlock | null)[];
  /** The row of every way that leads straight to the one below. */
  readonly straight: ReadonlyMap<number, number>;
  /** Of all other ways, their index in `ways`. */
  readonly sideOf: ReadonlyMap<number, number>;
  readonly ways: readonly SideWay[];
  readonly lanes: readonly Lane[];
}

function planOf(graph: WorkflowGraph): Plan {
  const row = new Map(graph.nodes.map(({ id }, index) => [id, index + 1]));
  const all = [
    { from: 0, to: row.get(graph.entry) ?? 1, label: null, look: 'entry' },
    ...graph.edges.map((edge) => ({
      from: row.get(edge.from) ?? 0,
      to: row.get(edge.to) ?? 0,
      label: labelText(edge),
      look: JSON.stringify([edge.human, edge.back, isUnseen(edge.coverage)]),
    })),
  ];
  const straight = new Map<number, number>();
  const sideOf = new Map<number, number>();
  const ways: SideWay[] = [];
  const taken = new Set<number>();
  for (const [index, way] of all.entries()) {
    if (way.to === way.from + 1 && !taken.has(way.from)) {
      taken.add(way.from);
      straight.set(index, way.from);
    } else {
      sideOf.set(index, ways.length);
      ways.push(way);
    }
  }
  return { labels: all.map(({ label }) => label), straight, sideOf, ways, lanes: lanesOf(ways) };
}

interface Rows {
  readonly begin: number;
  readonly nodes: readonly Omit<PlacedNode, 'x'>[];
  readonly widest: number;
  readonly height: number;
  top(row: number): number;
  bottom(row: number): number;
  /** Where a lane enters a row. */
  port(row: number, lane: Lane): number;
  /** Where a way leaves its row. */
  leaving(way: SideWay | undefined, index: number): number;
}

function placeRows(graph: WorkflowGraph, plan: Plan): Rows {
  const columns = Array.from({ length: graph.nodes.length + 1 }, (_, row) =>
    (['left', 'right'] as const).map((side) => portsAt(row, side, plan)),
  );
  const ported = (row: number) => Math.max(0, ...(columns[row] ?? []).map(({ height }) => height));
  const sizes = graph.nodes.map((node, index) => sizeOf(node, ported(index + 1)));
  const phases = sizes.filter((_, index) => graph.nodes[index]?.kind === 'phase');
  const widest = Math.max(...phases.map(({ width }) => width));
  const centres: number[] = [MARGIN + BEGIN_RADIUS];
  const heights = [2 * BEGIN_RADIUS, ...sizes.map(({ height }) => height)];
  const gaps = new Map(
    [...plan.straight].map(([index, row]) => [row, (plan.labels[index]?.height ?? 0) + GAP - 14]),
  );
  for (let row = 1; row < heights.length; row += 1) {
    const above = (centres[row - 1] ?? 0) + (heights[row - 1] ?? 0) / 2;
    centres.push(above + Math.max(GAP, gaps.get(row - 1) ?? 0) + (heights[row] ?? 0) / 2);
  }
  const edge = (row: number, sign: number) => (centres[row] ?? 0) + (sign * (heights[row] ?? 0)) / 2;
  const yOf = (row: number, is: (port: PortColumn['ports'][number]) => boolean) => {
    for (const { ports, height } of columns[row] ?? []) {
      const port = ports.find(is);
      if (port !== undefined) return (centres[row] ?? 0) - height / 2 + port.y;
    }
    return centres[row] ?? 0;
  };
  return {
    begin: centres[0] ?? 0,
    nodes: graph.nodes.map((node, index) => ({
      node,
      text: nodeText(node),
      width: node.kind === 'phase' ? widest : (sizes[index]?.width ?? 0),
      height: sizes[index]?.height ?? 0,
      y: centres[index + 1] ?? 0,
    })),
    widest,
    height: edge(heights.length - 1, 1) + MARGIN,
    top: (row) => edge(row, -1),
    bottom: (row) => edge(row, 1),
    port: (row, lane) => yOf(row, (port) => port.lane === lane && port.way === null),
    leaving: (way, index) => yOf(way?.from ?? 0, (port) => port.way === index),
  };
}

/** How far from the middle the lanes of a side begin: behind all words that stand there. */
function zoneOf({ ways, lanes, ...plan }: Plan, widest: number, side: Side): number {
  const mine = lanes.filter((lane) => lane.side === side).flatMap((lane) => lane.ways);
  const words = mine.map((way) => ways[way]?.label?.width ?? 0);
  const beside = widest / 2 + Math.max(...words, 12) + 2 * BESIDE;
  return side === 'left' ? beside : Math.max(beside, straightRoom(plan) + BESIDE);
}

function straightRoom({ straight, labels }: Pick<Plan, 'straight' | 'labels'>): number {
  return Math.max(0, ...[...straight.keys()].map((index) => labels[index]?.width ?? 0)) + BESIDE;
}

/** How far a node's outline is from its middle at some height. */
function reachOf({ node, y, width, height }: PlacedNode, at: number): number {
  const off = Math.abs(at - y);
  if (node.human) return width / 2 - (TIP * off) / (height / 2);
  if (node.kind === 'phase') return width / 2;
  const radius = Math.min(END_RADIUS, height / 2);
  const past = Math.max(0, off - (height / 2 - radius));
  return width / 2 - radius + Math.sqrt(Math.max(0, radius * radius - past * past));
}

function nodeText(node: GraphNode): TextBlock {
  const { title, details } = nodeLabel(node);
  const lines = details.map(({ text, class: mark }) => ({ text, size: 12, mark, bold: mark === 'verified' }));
  return textBlock([{ text: title, size: 15, bold: true }, ...lines], NODE_ROOM);
}

function labelText(edge: GraphEdge): TextBlock | null {
  const lines = [edgeLabel(edge), edge.coverage === undefined ? '' : timesText(edge.coverage)];
  const paragraphs = lines.filter((text) => text !== '').map((text) => ({ text, size: 12 }));
  return paragraphs.length === 0 ? null : textBlock(paragraphs, LABEL_ROOM);
}

function sizeOf(node: GraphNode, ported: number): { readonly width: number; readonly height: number } {
  const text = nodeText(node);
  if (node.kind === 'end') {
    return { width: Math.max(56, text.width + 24), height: Math.max(38, text.height + 16, ported + 12) };
  }
  const tips = node.human ? 2 * TIP : 0;
  return {
    width: Math.max(150, text.width + 32) + tips,
    height: Math.max(text.height + 22, ported + 12),
  };
}

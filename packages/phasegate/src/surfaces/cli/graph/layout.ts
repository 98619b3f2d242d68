import type { EdgeLabel, GraphLabel, NodeLabel } from '@dagrejs/dagre';
import type { GraphEdge, GraphNode, WorkflowGraph } from '@phasegate/core/model';
import { edgeLabel, nodeLabel, timesText } from './label.ts';
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
  readonly label: (Point & { readonly text: TextBlock }) | null;
}

/** How far a hexagon's tips stand out. */
export const TIP = 18;

/** The radius of the mark where a run starts. */
export const BEGIN_RADIUS = 8;

/** Lays a graph out. The library is loaded here, as no other command needs it. */
export async function layOut(graph: WorkflowGraph): Promise<Layout> {
  const { Graph, layout } = await import('@dagrejs/dagre');
  const plan = new Graph<GraphLabel, NodeLabel, EdgeLabel>({ multigraph: true });
  plan.setGraph({ rankdir: 'TB', nodesep: 56, edgesep: 28, ranksep: 44, marginx: 24, marginy: 24 });

  const key = (id: GraphNode['id']) => JSON.stringify(id);
  for (const node of graph.nodes) plan.setNode(key(node.id), sizeOf(node));
  plan.setNode(BEGIN, { width: 2 * BEGIN_RADIUS, height: 2 * BEGIN_RADIUS });
  plan.setEdge(BEGIN, key(graph.entry), { weight: 12 });
  for (const [index, edge] of graph.edges.entries()) {
    const text = labelText(edge);
    const room = text === null ? {} : { width: text.width + 10, height: text.height + 6 };
    // A way back is laid out the other way round, so that the layout keeps the author's order from top to bottom.
    const [from, to] = edge.back ? [edge.to, edge.from] : [edge.from, edge.to];
    plan.setEdge(key(from), key(to), { ...room, labelpos: 'c', weight: edge.back ? 0 : 12 }, String(index));
  }
  layout(plan);

  const { width = 0, height = 0 } = plan.graph();
  const nodes = new Map(
    graph.nodes.map((node) => {
      const place = placeOf(plan.node(key(node.id)));
      return [node.id, { node, text: nodeText(node), ...sizeOf(node), ...place }];
    }),
  );
  return {
    width,
    height,
    begin: placeOf(plan.node(BEGIN)),
    nodes: [...nodes.values()],
    edges: graph.edges.map((edge, index): PlacedEdge => {
      const [from, to] = edge.back ? [edge.to, edge.from] : [edge.from, edge.to];
      const way = plan.edge(key(from), key(to), String(index));
      const ends = [nodes.get(edge.from), nodes.get(edge.to)] as const;
      if (ends[0] !== undefined && edge.from === edge.to) return loopAt(ends[0], edge);
      const points = edge.back ? (way.points ?? []).toReversed() : (way.points ?? []);
      const text = labelText(edge);
      return {
        edge,
        points: [touching(ends[0], points[0]), ...points.slice(1, -1), touching(ends[1], points.at(-1))],
        label: text === null ? null : { text, ...placeOf(way) },
      };
    }),
    entry: plan.edge(BEGIN, key(graph.entry)).points ?? [],
  };
}

const BEGIN = 'begin';

function placeOf({ x = 0, y = 0 }: { readonly x?: number; readonly y?: number }): Point {
  return { x, y };
}

/** The library keeps room at the right of a node for a way back to itself, but does not draw it to the node. */
function loopAt(placed: PlacedNode, edge: GraphEdge): PlacedEdge {
  const right = placed.x + placed.width / 2;
  const rise = placed.height / 4;
  const side = (y: number) => touching(placed, { x: right, y });
  const text = labelText(edge);
  return {
    edge,
    points: [
      side(placed.y - rise),
      { x: right + 22, y: placed.y - rise - 8 },
      { x: right + 34, y: placed.y },
      { x: right + 22, y: placed.y + rise + 8 },
      side(placed.y + rise),
    ],
    label: text === null ? null : { text, x: right + 36 + text.width / 2, y: placed.y },
  };
}

/** Moves the end of a line from the box around a hexagon to the hexagon itself. */
function touching(placed: PlacedNode | undefined, point: Point = { x: 0, y: 0 }): Point {
  if (placed === undefined || !placed.node.human) return point;
  const reach = placed.width / 2 - (TIP * Math.abs(point.y - placed.y)) / (placed.height / 2);
  return { x: Math.min(Math.max(point.x, placed.x - reach), placed.x + reach), y: point.y };
}

function nodeText(node: GraphNode): TextBlock {
  const { title, details } = nodeLabel(node);
  const paragraphs = [{ text: title, size: 15, bold: true }, ...details.map((text) => ({ text, size: 12 }))];
  return textBlock(paragraphs, 230);
}

function labelText(edge: GraphEdge): TextBlock | null {
  const lines = [edgeLabel(edge), edge.coverage === undefined ? '' : timesText(edge.coverage)];
  const paragraphs = lines.filter((text) => text !== '').map((text) => ({ text, size: 12 }));
  return paragraphs.length === 0 ? null : textBlock(paragraphs, 190);
}

function sizeOf(node: GraphNode): { readonly width: number; readonly height: number } {
  const text = nodeText(node);
  if (node.kind === 'end')
    return { width: Math.max(56, text.width + 24), height: Math.max(38, text.height + 16) };
  const tips = node.human ? 2 * TIP : 0;
  return { width: Math.max(130, text.width + 32) + tips, height: text.height + 22 };
}

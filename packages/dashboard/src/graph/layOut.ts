import { Graph, layout } from '@dagrejs/dagre';
import type { MapEdge, MapNode } from '@phasegate/wire/watching';

/** A phase as it is drawn, with what else is said of it. */
export type DrawnNode = MapNode & { readonly mark?: string | null };

/** A place on the picture. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where a phase stands. */
export interface PlacedNode extends Point {
  readonly key: string;
  readonly node: DrawnNode;
}

/** A way, by the points it goes through. */
export interface PlacedEdge {
  readonly key: string;
  readonly edge: MapEdge;
  readonly from: string;
  readonly to: string;
  readonly points: readonly Point[];
  readonly label: Point | null;
}

/** A graph that has found its places. */
export interface LaidOut {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/** How large a phase is drawn. */
export const NODE = { width: 178, height: 58 } as const;

/** How far ways back lie apart, beside the phases. */
const LANE = 26;

/**
 * Finds a place for everything, from left to right, or from top to bottom where it is narrow. Ways forward are laid out
 * with the phases; each way back has a lane of its own beside them, so that none crosses a phase.
 */
export function layOut(
  nodes: readonly DrawnNode[],
  edges: readonly MapEdge[],
  direction: 'LR' | 'TB',
): LaidOut {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 22, ranksep: 30, edgesep: 14, marginx: 6, marginy: 6 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(keyOf(node.id), { ...NODE });
  const named = edges.map((edge, index) => ({ edge, name: String(index) }));
  const isBack = ({ edge }: (typeof named)[number]) => edge.back || edge.from === edge.to;
  for (const { edge, name } of named.filter((one) => !isBack(one))) {
    const size = edge.label === '' ? { width: 0, height: 0 } : { width: widthOf(edge), height: 16 };
    graph.setEdge(keyOf(edge.from), keyOf(edge.to), { ...size, labelpos: 'c' }, name);
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const centre = (id: MapNode['id']): Point => {
    const { x = 0, y = 0 } = graph.node(keyOf(id));
    return { x, y };
  };
  let lanes = 0;
  const placed = named.map((one): PlacedEdge => {
    const { edge, name } = one;
    const ends = { key: `e${name}`, edge, from: keyOf(edge.from), to: keyOf(edge.to) };
    if (isBack(one)) {
      lanes += 1;
      const lane = (direction === 'LR' ? height : width) + LANE * (lanes - 0.4);
      return { ...ends, ...wayBack(centre(edge.from), centre(edge.to), { lane, direction }) };
    }
    const { points = [], x, y } = graph.edge(ends.from, ends.to, name);
    const label = edge.label === '' || x === undefined || y === undefined ? null : { x, y };
    return { ...ends, points, label };
  });
  const beside = lanes === 0 ? 0 : LANE * lanes + 8;
  return {
    nodes: nodes.map((node) => {
      const { x, y } = centre(node.id);
      return { key: keyOf(node.id), node, x: x - NODE.width / 2, y: y - NODE.height / 2 };
    }),
    edges: placed,
    width: direction === 'LR' ? width : width + beside + 60,
    height: direction === 'LR' ? height + beside : height,
  };
}

function wayBack(
  from: Point,
  to: Point,
  { lane, direction }: { readonly lane: number; readonly direction: 'LR' | 'TB' },
): Pick<PlacedEdge, 'points' | 'label'> {
  const own = from.x === to.x && from.y === to.y;
  if (direction === 'LR') {
    const [start, end] = own ? [from.x + 34, to.x - 34] : [from.x - 18, to.x + 18];
    const [below, under] = [from.y + NODE.height / 2, to.y + NODE.height / 2];
    const points = [
      { x: start, y: below },
      { x: start, y: lane },
      { x: end, y: lane },
      { x: end, y: under },
    ];
    return { points, label: { x: (start + end) / 2, y: lane } };
  }
  const [start, end] = own ? [from.y + 14, to.y - 14] : [from.y - 8, to.y + 8];
  const right = NODE.width / 2;
  const points = [
    { x: from.x + right, y: start },
    { x: lane, y: start },
    { x: lane, y: end },
    { x: to.x + right, y: end },
  ];
  return { points, label: { x: lane, y: (start + end) / 2 } };
}

/** What is written on a way, as wide as it is drawn. */
function widthOf({ label }: MapEdge): number {
  // With room for the arrow on both sides.
  return Math.min(LONGEST_LABEL, label.length * 6.2 + 10) + 32;
}

const LONGEST_LABEL = 110;

/** A phase may be called anything, also `end`. */
function keyOf(id: MapNode['id']): string {
  return id === null ? 'end' : `phase ${typeof id} ${id}`;
}

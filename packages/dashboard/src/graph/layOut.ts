import { Graph, layout } from '@dagrejs/dagre';
import type { MapEdge, MapNode } from '@phasegate/wire/watching';

/** Where a phase stands. */
export interface PlacedNode {
  readonly key: string;
  readonly node: MapNode;
  readonly x: number;
  readonly y: number;
}

/** A way, by the points it goes through. */
export interface PlacedEdge {
  readonly key: string;
  readonly edge: MapEdge;
  readonly from: string;
  readonly to: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly label: { readonly x: number; readonly y: number } | null;
}

/** A graph that has found its places. */
export interface LaidOut {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/** How large a phase is drawn. */
export const NODE = { width: 168, height: 62 } as const;

/** Finds a place for everything, from left to right, or from top to bottom where it is narrow. */
export function layOut(
  nodes: readonly MapNode[],
  edges: readonly MapEdge[],
  direction: 'LR' | 'TB',
): LaidOut {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 28, ranksep: 56, edgesep: 18, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(keyOf(node.id), { ...NODE });
  edges.forEach((edge, index) => {
    const width = edge.label === '' ? 0 : Math.min(LONGEST_LABEL, edge.label.length * 6.4 + 12);
    const height = edge.label === '' ? 0 : 18;
    graph.setEdge(keyOf(edge.from), keyOf(edge.to), { width, height, labelpos: 'c' }, String(index));
  });
  layout(graph);
  const size = graph.graph();
  return {
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(keyOf(node.id));
      return { key: keyOf(node.id), node, x: (x ?? 0) - NODE.width / 2, y: (y ?? 0) - NODE.height / 2 };
    }),
    edges: edges.map((edge, index) => {
      const placed = graph.edge(keyOf(edge.from), keyOf(edge.to), String(index));
      const { points = [], x, y } = placed;
      return {
        key: `e${index}`,
        edge,
        from: keyOf(edge.from),
        to: keyOf(edge.to),
        points,
        label: edge.label === '' || x === undefined || y === undefined ? null : { x, y },
      };
    }),
    width: size.width ?? 0,
    height: size.height ?? 0,
  };
}

const LONGEST_LABEL = 150;

/** A phase may be called anything, also `end`. */
function keyOf(id: MapNode['id']): string {
  return id === null ? 'end' : `phase ${typeof id} ${id}`;
}

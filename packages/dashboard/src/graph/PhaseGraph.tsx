import type { MapEdge, MapNode } from '@phasegate/wire/watching';
import {
  BaseEdge,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { plainText } from '../parts/plainText.ts';
import { describeGraph, WORDS } from './describeGraph.ts';
import { layOut, NODE, type PlacedEdge, type PlacedNode, type Point } from './layOut.ts';
import '@xyflow/react/dist/base.css';
import './graph.css';

/** A workflow as a picture, with where a run is, and the same in words for those who hear it. */
export function PhaseGraph({
  nodes: given,
  edges,
  marks = NO_MARKS,
}: {
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
  /** What else is to be said of a phase: its items, or that it was refused. */
  readonly marks?: Marks;
}) {
  const nodes = useMemo(
    () => given.map((node) => ({ ...node, mark: node.id === null ? null : (marks.get(node.id) ?? null) })),
    [given, marks],
  );
  const frame = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watched = frame.current;
    if (watched === null) return;
    setWidth(watched.clientWidth);
    const observer = new ResizeObserver(() => setWidth(watched.clientWidth));
    observer.observe(watched);
    return () => observer.disconnect();
  }, []);
  const placed = useMemo(() => layOut(nodes, edges, width < NARROW ? 'TB' : 'LR'), [nodes, edges, width]);
  const scale = width === 0 ? 1 : Math.min(1, width / placed.width);
  const height = placed.height * scale + 8;
  const flowNodes = useMemo(() => placed.nodes.map(nodeOf), [placed]);
  const flowEdges = useMemo(() => placed.edges.map(edgeOf), [placed]);
  return (
    <figure ref={frame}>
      {width > 0 && (
        <div className="graph" style={{ height }} aria-hidden="true">
          <ReactFlow
            key={`${placed.width} ${placed.height} ${width}`}
            nodes={flowNodes}
            edges={flowEdges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            defaultViewport={{ x: Math.max(0, (width - placed.width * scale) / 2), y: 4, zoom: scale }}
            minZoom={0.2}
            nodesDraggable={false}
            nodesConnectable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            elementsSelectable={false}
            disableKeyboardA11y
            zoomOnScroll={false}
            preventScrolling={false}
            proOptions={{ hideAttribution: true }}
          />
        </div>
      )}
      <figcaption className="unseen">
        <ol>
          {describeGraph(nodes, edges).map((sentence) => (
            <li key={sentence}>{plainText(sentence)}</li>
          ))}
        </ol>
      </figcaption>
    </figure>
  );
}

const NARROW = 560;
const NO_MARKS: Marks = new Map();

/** A few words on phases. */
export type Marks = ReadonlyMap<string | number, string>;

type PhaseNode = Node<{ readonly placed: PlacedNode }, 'phase'>;
type WayEdge = Edge<{ readonly placed: PlacedEdge }, 'way'>;

function nodeOf(placed: PlacedNode): PhaseNode {
  return {
    id: placed.key,
    type: 'phase',
    position: { x: placed.x, y: placed.y },
    width: NODE.width,
    height: NODE.height,
    data: { placed },
  };
}

function edgeOf(placed: PlacedEdge): WayEdge {
  return { id: placed.key, type: 'way', source: placed.from, target: placed.to, data: { placed } };
}

function PhaseBox({ data }: NodeProps<PhaseNode>) {
  const { node } = data.placed;
  const { status, name, visits, human, parallel, mark } = node;
  if (node.id === null) {
    return (
      <div className="graph-end" data-status={status ?? 'plain'}>
        <Handles />
        {plainText(name)}
      </div>
    );
  }
  return (
    <div className="graph-node" data-status={status ?? 'plain'}>
      <Handles />
      <span className="graph-name">
        {STATUS_SIGNS[status ?? ''] ?? ''}
        <bdi>{plainText(name)}</bdi>
      </span>
      <span className="graph-about">
        {[
          status === null ? null : (WORDS[status] ?? status),
          visits > 1 ? `×${visits}` : null,
          mark ?? null,
          human ? 'human gate' : null,
          parallel && mark == null ? 'parallel' : null,
        ]
          .filter((word) => word !== null)
          .join(' · ')}
      </span>
    </div>
  );
}

const STATUS_SIGNS: Readonly<Record<string, string>> = {
  completed: '✓ ',
  overridden: '⚠ ',
  current: '▶ ',
  waiting: '⏸ ',
  escalated: '! ',
  stopped: '■ ',
};

function Handles() {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}

function Way({ data }: EdgeProps<WayEdge>) {
  const placed = data?.placed;
  if (placed === undefined) return null;
  const { edge, points, label } = placed;
  const kind = edge.taken > 0 ? 'taken' : edge.back ? 'back' : 'open';
  return (
    <>
      <BaseEdge path={pathThrough(points)} className={`graph-way ${kind}`} />
      <polygon className={`graph-tip ${kind}`} points={tipAt(points)} />
      {label !== null && (
        <EdgeLabelRenderer>
          <div
            className="graph-label"
            style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
          >
            {plainText(edge.label)}
            {edge.taken > 1 && ` ×${edge.taken}`}
            {edge.max !== null && ` (at most ${edge.max})`}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

/** A line through the points, rounded at each. */
function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = rest.map((point, index) => {
    const next = rest[index + 1];
    if (next === undefined) return `L ${point.x} ${point.y}`;
    const before = towards(point, rest[index - 1] ?? first);
    const after = towards(point, next);
    return `L ${before.x} ${before.y} Q ${point.x} ${point.y} ${after.x} ${after.y}`;
  });
  return `M ${first.x} ${first.y} ${parts.join(' ')}`;
}

const ROUND = 10;

/** A little way from one point to another, at most half of it. */
function towards(point: Point, other: Point): Point {
  const length = Math.hypot(other.x - point.x, other.y - point.y);
  const part = length === 0 ? 0 : Math.min(ROUND / length, 0.5);
  return { x: point.x + (other.x - point.x) * part, y: point.y + (other.y - point.y) * part };
}

function tipAt(points: readonly Point[]): string {
  const end = points.at(-1);
  const before = points.at(-2);
  if (end === undefined || before === undefined) return '';
  const angle = Math.atan2(end.y - before.y, end.x - before.x);
  const corner = (turn: number) =>
    `${end.x - 9 * Math.cos(angle + turn)},${end.y - 9 * Math.sin(angle + turn)}`;
  return `${end.x},${end.y} ${corner(0.45)} ${corner(-0.45)}`;
}

const NODE_TYPES = { phase: PhaseBox };
const EDGE_TYPES = { way: Way };

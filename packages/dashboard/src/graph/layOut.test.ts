import type { MapEdge, MapNode } from '@phasegate/wire/watching';
import { expect, test } from 'vitest';
import { describeGraph } from './describeGraph.ts';
import { layOut, NODE } from './layOut.ts';

const node = (id: string | null, status: string, visits = 1): MapNode => ({
  id,
  name: id ?? 'End',
  human: id === 'A',
  parallel: false,
  status,
  visits,
  checks: [],
  evidence: [],
});
const edge = (from: string, to: string | null, more: Partial<MapEdge> = {}): MapEdge => ({
  from,
  to,
  label: '',
  human: false,
  back: false,
  max: null,
  taken: 0,
  ...more,
});
const NODES = [node('A', 'completed', 2), node('B', 'current'), node(null, 'ahead', 0)];
const EDGES = [
  edge('A', 'B', { taken: 2 }),
  edge('B', 'A', { back: true, label: 'again' }),
  edge('B', null),
  edge('A', 'A'),
];

test.each(['LR', 'TB'] as const)(
  'no phase lies on another, and ways back pass beside them all (%s)',
  (direction) => {
    const { nodes, edges, width, height } = layOut(NODES, EDGES, direction);

    for (const [at, one] of nodes.entries()) {
      for (const other of nodes.slice(at + 1)) {
        expect(Math.abs(one.x - other.x) >= NODE.width || Math.abs(one.y - other.y) >= NODE.height).toBe(
          true,
        );
      }
    }
    for (const { points } of edges) {
      for (const { x, y } of points) {
        expect(x).toBeLessThanOrEqual(width);
        expect(y).toBeLessThanOrEqual(height);
      }
    }
    const back = edges.find(({ edge: one }) => one.label === 'again');
    const beside = direction === 'LR' ? 'y' : 'x';
    const edgeOf = direction === 'LR' ? NODE.height : NODE.width;
    const furthest = Math.max(...nodes.map((placed) => placed[beside] + edgeOf));
    expect(Math.max(...(back?.points ?? []).map((point) => point[beside]))).toBeGreaterThan(furthest);
  },
);

test('the graph is told in sentences as well', () => {
  expect(describeGraph(NODES, EDGES)).toEqual([
    'Phase A, completed, visited 2 times, a human decides here. Leads to B, taken 2 times; A.',
    'Phase B, at work now. Leads to A (again); End.',
    'End.',
  ]);
});

import type {
  GraphEdge,
  GraphNode,
  NodeCoverage,
  TimesSeen,
  Workflow,
  WorkflowGraph,
} from '@phasegate/core/model';
import { waysOf } from '@phasegate/core/model';
import { type CoverableKind, coverableId, wayId } from './coverables.ts';
import { type Coverage, type Covered, coverageCount } from './coverage.ts';

/** The graph of a workflow with how often each node and edge was seen. */
export function markCoverage(graph: WorkflowGraph, workflow: Workflow, coverage: Coverage): WorkflowGraph {
  const byId = new Map(coverage.elements.map((element) => [element.id, element]));
  const timesOf = (id: string): TimesSeen => {
    const found = byId.get(id);
    return { tests: found?.tests ?? 0, runs: found?.runs ?? 0 };
  };
  // One way per edge, in the same order: that is how `graphOf` makes them.
  const ways = workflow.phases.flatMap(waysOf);
  const edges = graph.edges.map((edge, index): GraphEdge => {
    const way = ways[index];
    return way === undefined ? edge : { ...edge, coverage: timesOf(wayId(way)) };
  });
  const nodes = graph.nodes.map((node): GraphNode => {
    if (node.id === null) return { ...node, coverage: endCoverage(edges) };
    const phase = node.id;
    const inside = coverage.elements.filter((element) => element.phase === phase);
    return { ...node, coverage: { ...timesOf(coverableId('phase_entered', phase)), ...partsOf(inside) } };
  });
  return { ...graph, nodes, edges, coverage: coverageCount(coverage.elements) };
}

function endCoverage(edges: readonly GraphEdge[]): NodeCoverage {
  const into = edges.filter((edge) => edge.to === null);
  const sum = (source: 'tests' | 'runs') =>
    into.reduce((all, edge) => all + (edge.coverage?.[source] ?? 0), 0);
  const times = { tests: sum('tests'), runs: sum('runs') };
  return { ...times, seen: times.tests + times.runs > 0 ? 1 : 0, total: 1, parts: [] };
}

const PARTS: readonly (readonly [what: string, kinds: readonly CoverableKind[]])[] = [
  ['gate', ['gate_opened', 'gate_decided']],
  ['options', ['option']],
  ['preconditions', ['precondition_held', 'precondition_refused']],
  ['postconditions', ['postcondition_held', 'postcondition_refused']],
  ['blockers', ['blocker_held', 'blocker_refused']],
  ['deny rules', ['deny_rule']],
];

function partsOf(inside: readonly Covered[]): Omit<NodeCoverage, keyof TimesSeen> {
  const { seen, total } = coverageCount(inside);
  const parts = PARTS.map(([what, kinds]) => {
    const count = coverageCount(inside.filter(({ kind }) => kinds.includes(kind)));
    return { what, seen: count.seen, total: count.total };
  });
  return { seen, total, parts: parts.filter((part) => part.total > 0) };
}

import type { RunView } from '@phasegate/core';
import type { GraphNode, WorkflowGraph } from '@phasegate/core/model';

/** The graph with the place of a run marked, from all that its viewer may see of it. */
export function markRun(graph: WorkflowGraph, view: RunView): WorkflowGraph {
  return {
    ...graph,
    run: { id: view.run, status: view.status, phase: view.phase },
    nodes: graph.nodes.map((node) => ({ ...node, status: statusOf(node.id, view) })),
  };
}

function statusOf(id: string | number | null, view: RunView): GraphNode['status'] {
  if (id === null) return view.status === 'completed' ? 'completed' : 'ahead';
  if (view.phase === id) {
    return view.status === 'waiting' || view.status === 'escalated' ? view.status : 'current';
  }
  if (view.completedPhases.includes(id)) return 'completed';
  return view.overrides?.some(({ phase }) => phase === id) ? 'overridden' : 'ahead';
}

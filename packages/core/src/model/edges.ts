import {
  type Outcome,
  type Phase,
  type PhaseId,
  phaseById,
  positionOf,
  type Route,
  type Target,
  type Workflow,
} from './workflow.ts';

/** One way out of a phase. */
export interface Edge {
  readonly from: PhaseId;
  readonly to: Target;
  /** What leads this way: an outcome, a condition, an option. */
  readonly label: string;
  readonly by: 'next' | 'condition' | 'outcome' | 'option' | 'exhausted' | 'empty' | 'timeout';
  /** How often it may be taken, where the author said so. */
  readonly max: number | null;
}

/** Every way out of a phase, in the order written. A human's `null` stops the run, so it is no way to the end. */
export function edgesOf(phase: Phase): readonly Edge[] {
  const from = phase.id;
  const edges: Edge[] = [];
  for (const option of phase.humanGate?.options ?? []) {
    if (option.next !== undefined)
      edges.push({ from, to: option.next, label: option.label, by: 'option', max: null });
  }
  const timeout = phase.humanGate?.timeout;
  if (timeout?.afterwards === 'route') {
    edges.push({ from, to: timeout.to, label: 'nobody decides in time', by: 'timeout', max: null });
  }
  if (phase.humanGate?.options.every((option) => option.next !== undefined)) {
    // The route is then left to an agent that reports `fail`, which asks no human.
    const all = routeEdges(from, phase.next);
    const ways = all.filter((edge) => edge.by === 'outcome');
    const fail = ways.find((edge) => edge.label === 'fail') ?? ways.find((edge) => edge.label === '_default');
    if (fail === undefined) return edges;
    const exhausted = all.filter((edge) => edge.by === 'exhausted');
    return [...edges, { ...fail, label: 'fail' }, ...exhausted];
  }
  const { onEmpty } = phase.parallel ?? {};
  const empty: Edge[] =
    onEmpty === undefined ? [] : [{ from, to: onEmpty, label: 'empty', by: 'empty', max: null }];
  return [...edges, ...routeEdges(from, phase.next), ...empty];
}

/** Where a phase may lead, each once: what an agent's hint about the way on can be held against. */
export function successorsOf(workflow: Workflow, id: PhaseId): readonly Target[] {
  const phase = phaseById(workflow, id);
  // Nobody can hint at what only time brings about.
  const edges = phase === undefined ? [] : edgesOf(phase).filter((edge) => edge.by !== 'timeout');
  return [...new Set(edges.map((edge) => edge.to))];
}

function routeEdges(from: PhaseId, route: Route): readonly Edge[] {
  if (route.kind === 'to') return [{ from, to: route.target, label: '', by: 'next', max: null }];
  const max = route.maxIterations;
  const edges: Edge[] = [];
  if (route.kind === 'when') {
    edges.push({ from, to: route.onTrue, label: route.condition.source, by: 'condition', max });
    edges.push({ from, to: route.onFalse, label: 'else', by: 'condition', max });
  } else {
    for (const [outcome, to] of Object.entries(route.map) as [Outcome, Target][]) {
      edges.push({ from, to, label: outcome, by: 'outcome', max });
    }
    if (route.otherwise !== undefined)
      edges.push({ from, to: route.otherwise, label: '_default', by: 'outcome', max });
  }
  if (route.onExhausted !== undefined) {
    edges.push({ from, to: route.onExhausted, label: 'exhausted', by: 'exhausted', max: null });
  }
  return edges;
}

/**
 * True when a way leads back: to the phase itself or to one written before it. Every loop has such a way,
 * so bounding these bounds every loop.
 */
export function leadsBack(workflow: Workflow, from: PhaseId, to: Target): boolean {
  if (to === null) return false;
  return positionOf(workflow, to) <= positionOf(workflow, from);
}

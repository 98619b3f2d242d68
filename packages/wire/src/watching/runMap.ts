import type { PhaseId, Run } from '@phasegate/core';
import { overrideWays, timesOf } from '@phasegate/core/engine';
import { type GraphEdge, type GraphNode, graphOf, type Phase, phaseById } from '@phasegate/core/model';
import type { MapCompletion, MapEdge, MapNode, MapScope, RunMap, ShownEvidence } from './watched.ts';

/** A run's way through its workflow, with as much of what was handed in as is to be shown. */
export function encodeRunMap(run: Run, shownOf: (one: Completion) => ShownEvidence = (one) => one): RunMap {
  const graph = graphOf(run.workflow, run);
  const phase = phaseById(run.workflow, run.phase);
  const items = Object.entries(run.work.items ?? {});
  const steps = stepsOf(run);
  return {
    run: run.id,
    workflow: run.workflow.id,
    workflow_hash: run.workflowHash,
    nodes: graph.nodes.map((node) => nodeOf(node, run)),
    edges: edgesOf(graph.edges, steps),
    items: items.map(([key, { status, attempts, holder, error }]) => ({
      key,
      status,
      attempts,
      holder: holder ?? null,
      error,
    })),
    tasks: (phase?.tasks ?? []).map(({ name }, index) => ({
      number: index + 1,
      name,
      fetched: run.work.fetched.includes(index + 1),
    })),
    scope: phase === undefined ? null : encodeScope(phase),
    completions: run.completions.map((one) => completionOf(one, shownOf(one))),
    decisions: run.decisions.map(({ gate, option, input, by, at }) => ({ gate, option, input, by, at })),
    fenced: (run.fenced ?? []).map((act) => ({ ...act })),
    ways: overrideWays(run),
    note: run.work.note,
  };
}

/** What a phase may use and write. */
export function encodeScope({ tools, writes }: Pick<Phase, 'tools' | 'writes'>): MapScope {
  return { allowed_tools: tools.allowed, forbidden_tools: tools.forbidden, writes };
}

function nodeOf(node: GraphNode, run: Run): MapNode {
  const { id, name, human, parallel, status, checks, evidence } = node;
  const visits = id === null ? (run.status === 'completed' ? 1 : 0) : timesOf(run.visits, id);
  return {
    id,
    name,
    human,
    parallel: parallel !== null,
    status,
    visits,
    checks: checks.map((check) => ({ ...check })),
    evidence,
  };
}

interface Step {
  readonly from: PhaseId;
  readonly to: PhaseId | null;
}

/** From each completed visit to where the run was next; a visit that is under way leads nowhere yet. */
function stepsOf({ completions, phase, status }: Run): readonly Step[] {
  return completions.flatMap((one, index): readonly Step[] => {
    const next = completions[index + 1];
    if (next !== undefined) return [{ from: one.phase, to: next.phase }];
    if (phase !== null) return [{ from: one.phase, to: phase }];
    return status === 'completed' ? [{ from: one.phase, to: null }] : [];
  });
}

/** Of several ways between two phases, nothing says which was taken: all of them are shown as taken. */
function edgesOf(edges: readonly GraphEdge[], steps: readonly Step[]): readonly MapEdge[] {
  return edges.map(({ from, to, label, human, back, max }) => ({
    from,
    to,
    label,
    human,
    back,
    max,
    taken: steps.filter((step) => step.from === from && step.to === to).length,
  }));
}

type Completion = Run['completions'][number];

function completionOf(completion: Completion, { evidence, word, left_out }: ShownEvidence): MapCompletion {
  const { phase, visit, at, by, outcome, warnings = [], established = [] } = completion;
  return {
    phase,
    visit,
    at,
    by,
    outcome,
    evidence,
    ...(word === undefined ? {} : { word }),
    ...(left_out === undefined ? {} : { left_out }),
    warnings: warnings.map(({ message }) => message),
    proven: established.map(({ frozen: _, ...one }) => one),
    approved: completion.approved !== undefined,
  };
}

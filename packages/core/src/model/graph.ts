import type { Run } from '../engine/run.ts';
import { type Edge, edgesOf, leadsBack } from './edges.ts';
import type { Check, EvidenceClass, Phase, PhaseId, Target, Workflow } from './workflow.ts';

/** A workflow as a picture needs it: nodes, and the ways between them. Plain data, also the `json` format of `graph`. */
export interface WorkflowGraph {
  readonly workflow: string;
  readonly title: string;
  readonly entry: PhaseId;
  /** The run whose place is marked, or null. */
  readonly run: {
    readonly id: string;
    readonly status: Run['status'];
    readonly phase: PhaseId | null;
  } | null;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** How much of the workflow was seen, where that is marked. */
  readonly coverage?: GraphCoverage;
}

/** How much was seen of a number of things: by anything, by tests, by real runs. */
export interface GraphCoverage {
  readonly total: number;
  readonly seen: number;
  readonly tests: number;
  readonly runs: number;
}

/** How often something was seen. */
export interface TimesSeen {
  readonly tests: number;
  readonly runs: number;
}

/** How often a phase was entered, and how much was seen of what stands in it. */
export interface NodeCoverage extends TimesSeen {
  readonly seen: number;
  readonly total: number;
  /** The same by kind: its gate, options, checks and deny rules; only what the phase has. */
  readonly parts: readonly { readonly what: string; readonly seen: number; readonly total: number }[];
}

/** A phase, or the end. */
export interface GraphNode {
  /** Null for the end. */
  readonly id: PhaseId | null;
  readonly number: number | null;
  readonly name: string;
  readonly kind: 'phase' | 'end';
  readonly entry: boolean;
  /** What stands between this phase and the next: names of the blockers, then of the human gate; null without any. */
  readonly gate: string | null;
  /** Names of the evidence an agent submits to complete the phase. All of it is claimed. */
  readonly evidence: readonly string[];
  /** The checks that completing the phase must pass: its postconditions, then the blockers of its gates. */
  readonly checks: readonly GraphCheck[];
  /** The human gate's name; null without one. */
  readonly humanGate: string | null;
  /** Whether a human decides here. */
  readonly human: boolean;
  /** The path whose items are worked on side by side, or null. */
  readonly parallel: string | null;
  /** Where the run stands with it; null without a run. */
  readonly status: NodeStatus | null;
  /** Only where coverage is marked. */
  readonly coverage?: NodeCoverage;
}

/** A check as a picture shows it. */
export interface GraphCheck {
  readonly label: string;
  /** What its answer rests on: the agent's word, or what the engine looked at. */
  readonly class: EvidenceClass;
  /** Whether it only warns. */
  readonly warns: boolean;
}

/** A node's place in a run. `stopped` is the phase in which a run was ended by a human. */
export type NodeStatus =
  | 'completed'
  /** A human led the run past it: it is not completed. */
  | 'overridden'
  | 'current'
  | 'waiting'
  | 'escalated'
  | 'stopped'
  | 'ahead';

/** One way out of a phase. */
export interface GraphEdge {
  readonly from: PhaseId;
  /** Null for the end. */
  readonly to: Target;
  /** The outcome, the condition, `else`, `exhausted` or a human's option; empty where there is no choice. */
  readonly label: string;
  /** Whether only a human's choice leads this way. */
  readonly human: boolean;
  /** Whether it leads back to a phase that comes before. */
  readonly back: boolean;
  /** How often a way back may be taken, where the author said so. */
  readonly max: number | null;
  /** Only where coverage is marked. */
  readonly coverage?: TimesSeen;
}

/** What a picture needs to know of a run; every `Run` is one. */
export interface RunPlace {
  readonly id: string;
  readonly status: Run['status'];
  readonly phase: PhaseId | null;
  readonly completions: readonly { readonly phase: PhaseId; readonly outcome?: string }[];
  /** Where a human ended it. */
  readonly stoppedIn?: PhaseId;
}

/** The graph of a workflow; with a run, every node says where that run stands with it. */
export function graphOf(workflow: Workflow, run?: RunPlace): WorkflowGraph {
  const edges = workflow.phases.flatMap((phase) =>
    waysOf(phase).map((way): GraphEdge => {
      const { from, to, max } = way;
      const back = leadsBack(workflow, from, to);
      const human = way.by === 'option' || way.option !== null;
      return { from, to, label: wordsOn(way), human, back, max: back ? max : null };
    }),
  );
  const nodes = workflow.phases.map((phase) => nodeOf(workflow, phase, run));
  if (edges.some((edge) => edge.to === null)) nodes.push(endNode(run));
  return {
    workflow: workflow.id,
    title: workflow.title,
    entry: workflow.entry,
    run: run === undefined ? null : { id: run.id, status: run.status, phase: run.phase },
    nodes,
    edges,
  };
}

function nodeOf(workflow: Workflow, phase: Phase, run: RunPlace | undefined): GraphNode {
  const gate = phase.blockers.map((check) => check.label);
  if (phase.humanGate !== null) gate.push(phase.humanGate.id);
  return {
    id: phase.id,
    number: phase.number,
    name: phase.name,
    kind: 'phase',
    entry: phase.id === workflow.entry,
    gate: gate.length > 0 ? gate.join(', ') : null,
    evidence: [
      ...phase.evidence.fields.map(({ name }) => name),
      ...phase.evidence.artifacts.map(({ type }) => type),
    ],
    checks: [...phase.postconditions, ...phase.blockers].map(checkOf),
    humanGate: phase.humanGate?.id ?? null,
    human: phase.humanGate !== null,
    parallel: phase.parallel?.key ?? null,
    status: run === undefined ? null : statusOf(phase.id, run),
  };
}

function checkOf(check: Check): GraphCheck {
  // A check that is looked at again looks at the world, also where its author did not say what it needs.
  const looked = check.needs === 'claimed' && check.recheck === true;
  return {
    label: check.label,
    class: looked ? 'verified' : check.needs,
    warns: check.severity === 'warning',
  };
}

function endNode(run: RunPlace | undefined): GraphNode {
  const status = run === undefined ? null : run.status === 'completed' ? 'completed' : 'ahead';
  return {
    id: null,
    number: null,
    name: 'End',
    kind: 'end',
    entry: false,
    gate: null,
    evidence: [],
    checks: [],
    humanGate: null,
    human: false,
    parallel: null,
    status,
  };
}

function statusOf(id: PhaseId, run: RunPlace): NodeStatus {
  if (run.phase === id) {
    return run.status === 'waiting' || run.status === 'escalated' ? run.status : 'current';
  }
  if (run.status === 'stopped' && run.stoppedIn === id) return 'stopped';
  const last = run.completions.findLast((completion) => completion.phase === id);
  if (last?.outcome === 'overridden') return 'overridden';
  return last === undefined ? 'ahead' : 'completed';
}

/** A way as it is drawn: an edge, and the human's option that must be chosen for the phase's own route to be taken. */
export interface Way extends Edge {
  /** Null where no human's choice stands before the route, or where the choice itself says where to go. */
  readonly option: string | null;
}

/** Every way out of a phase, one per edge of its graph and in the same order. */
export function waysOf(phase: Phase): readonly Way[] {
  // Options that name no phase follow the phase's own route, so each of its ways is drawn once per such option.
  const following = phase.humanGate?.options.filter((option) => option.next === undefined) ?? [];
  return edgesOf(phase).flatMap((edge): readonly Way[] => {
    if (edge.by === 'option' || edge.by === 'timeout' || following.length === 0 || reportsFailure(edge)) {
      return [{ ...edge, option: null }];
    }
    return following.map(({ label }) => ({ ...edge, option: label }));
  });
}

/** What is written on a way: an outcome, a condition, `else`, `exhausted`, and the option before it. */
export function wordsOn({ label, option }: Way): string {
  const words = label === '_default' ? 'else' : label;
  if (option === null) return words;
  return words === '' ? option : `${option}: ${words}`;
}

/** An agent that reports `fail` goes that way without a human's choice. */
function reportsFailure(edge: Edge): boolean {
  return edge.by === 'outcome' && edge.label === 'fail';
}

import { approvingTargets } from './approval.ts';
import { edgesOf } from './edges.ts';
import { type Phase, type PhaseId, phaseById, type Target, type Workflow } from './workflow.ts';

/**
 * Fields of the checkpoint that are the engine's own, set or not. Nobody else may use these names: an unset one
 * that an agent could fill would be read as the engine's word.
 */
export const ENGINE_FIELDS: readonly string[] = [
  'workflowRunId',
  'workflowType',
  'currentStep',
  'completedSteps',
  'iterationCounts',
  'pendingRetry',
  'parallelResults',
  'gateDecision',
  'decisions',
  'results',
];

/** What any agent may add to any submission: its word, which no condition reads. */
export const WORDS: readonly string[] = ['notes', 'commands_executed'];

/** Names of the evidence a phase declares. */
export function declaredNames(phase: Pick<Phase, 'evidence'>): readonly string[] {
  return [
    ...phase.evidence.fields.map((field) => field.name),
    ...phase.evidence.artifacts.map((artifact) => artifact.type),
  ];
}

/** True where a phase declares nothing: what is handed in there is a free result. */
export function hasFreeResult({ evidence }: Pick<Phase, 'evidence'>): boolean {
  return evidence.fields.length + evidence.artifacts.length === 0;
}

/** Names of the evidence that any phase of a workflow declares. */
export function evidenceNamesOf(workflow: Workflow): ReadonlySet<string> {
  return kept(workflow).declared;
}

/** Names that a human gate of the phase covers: all the phase declares, and the names in the gate's `context`. */
export function coveredBy(phase: Phase): readonly string[] {
  if (phase.humanGate === null) return [];
  return [...new Set([...declaredNames(phase), ...phase.humanGate.context.map(nameIn)])];
}

/**
 * Names that are what a human approved, seen from a phase: covered by the gate of another phase whose yes can have led
 * here. Before that yes nothing can be approved, so a gate that lies ahead covers nothing yet.
 */
export function coveredAt(workflow: Workflow, phase: PhaseId): ReadonlySet<string> {
  return kept(workflow).covered.get(phase) ?? new Set();
}

/** The name a path such as `plan.scope` begins with. */
export function nameIn(path: string): string {
  return path.split('.', 1)[0] as string;
}

interface Names {
  readonly declared: ReadonlySet<string>;
  readonly covered: ReadonlyMap<PhaseId, ReadonlySet<string>>;
}

// Workflows are frozen, so the object stands for its names.
const names = new WeakMap<Workflow, Names>();

function kept(workflow: Workflow): Names {
  const known = names.get(workflow);
  if (known !== undefined) return known;
  const found: Names = {
    declared: new Set(workflow.phases.flatMap(declaredNames)),
    covered: coverage(workflow),
  };
  names.set(workflow, found);
  return found;
}

function coverage(workflow: Workflow): ReadonlyMap<PhaseId, ReadonlySet<string>> {
  const covered = new Map<PhaseId, Set<string>>();
  for (const gated of workflow.phases) {
    const names = coveredBy(gated).filter((name) => !isOwned(workflow, name));
    if (names.length === 0) continue;
    for (const id of reachedFrom(workflow, approvingTargets(workflow, gated))) {
      if (id === gated.id) continue;
      const here = covered.get(id) ?? new Set();
      for (const name of names) here.add(name);
      covered.set(id, here);
    }
  }
  return covered;
}

/** A param or a field of the engine's is nobody's to replace, so nobody needs to approve it. */
export function isOwned(workflow: Workflow, name: string): boolean {
  return ENGINE_FIELDS.includes(name) || Object.hasOwn(workflow.params, name);
}

function reachedFrom(workflow: Workflow, targets: readonly Target[]): ReadonlySet<PhaseId> {
  const reached = new Set<PhaseId>();
  const open = targets.filter((target) => target !== null);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    const phase = phaseById(workflow, id);
    for (const edge of phase === undefined ? [] : edgesOf(phase)) if (edge.to !== null) open.push(edge.to);
  }
  return reached;
}

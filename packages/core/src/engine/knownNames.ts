import { coveredBy, declaredNames, ENGINE_FIELDS } from '../model/names.ts';
import type { Phase, Workflow } from '../model/workflow.ts';

/** The names that may be read though nothing is there yet, by the root they are read from. */
export interface KnownNames {
  /** What any phase declares. */
  readonly artifacts: readonly string[];
  /** What a human gate covers. */
  readonly approved: readonly string[];
  readonly params: readonly string[];
  readonly checkpoint: readonly string[];
  /** What this phase declares; null where it declares nothing, so that its result is free. */
  readonly result: readonly string[] | null;
  /** The artifacts of this phase, which are roots of their own while it is judged. */
  readonly roots: readonly string[];
}

/** Tells a name that is declared and absent from one that is a mistake, in a phase of a workflow. */
export function knownNames(workflow: Workflow, phase: Phase): KnownNames {
  const { artifacts, approved, params, checkpoint } = namesOf(workflow);
  const declared = declaredNames(phase);
  return {
    artifacts,
    approved,
    params,
    checkpoint,
    result: declared.length === 0 ? null : declared,
    roots: phase.evidence.artifacts.map(({ type }) => type),
  };
}

/** The part that is the same in every phase. */
type WorkflowNames = Omit<KnownNames, 'result' | 'roots'>;

/** Every look asks for them, and a workflow never changes. */
const kept = new WeakMap<Workflow, WorkflowNames>();

function namesOf(workflow: Workflow): WorkflowNames {
  const found = kept.get(workflow);
  if (found !== undefined) return found;
  const artifacts = unique(workflow.phases.flatMap(declaredNames));
  const params = Object.keys(workflow.params);
  const names: WorkflowNames = {
    artifacts,
    approved: unique(workflow.phases.flatMap(coveredBy)),
    params,
    checkpoint: unique([...ENGINE_FIELDS, ...params, ...artifacts]),
  };
  kept.set(workflow, names);
  return names;
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

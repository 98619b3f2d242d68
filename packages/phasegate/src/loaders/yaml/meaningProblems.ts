import { defineWorkflow, type Known, type Workflow, type WorkflowDraft } from '@phasegate/core';
import { type DraftProblem, GRAPH_CODES, WHOLE_CODES } from '@phasegate/core/model';
import type { ShapeProblem } from './shapeProblems.ts';
import type { SourceMap } from './sourceMap.ts';
import type { YamlPath } from './yamlTree.ts';

/** The workflow, and what is wrong with its meaning as far as that can be told. */
export interface Meaning {
  readonly workflow: Workflow | null;
  readonly problems: readonly DraftProblem[];
}

/**
 * Has the draft checked. Where the shape of something is broken, whatever may only follow from that is left out:
 * a report that sends its reader after consequences is worse than a short one.
 */
export function meaningOf(
  draft: WorkflowDraft,
  known: Known,
  { shape, map }: { readonly shape: readonly ShapeProblem[]; readonly map: SourceMap },
): Meaning {
  const result = defineWorkflow(draft, known);
  if (shape.length === 0) {
    return result.ok
      ? { workflow: result.workflow, problems: result.notes }
      : { workflow: null, problems: result.problems };
  }
  const broken = new Broken(shape);
  const problems = (result.ok ? result.notes : result.problems).filter(
    (problem) => !broken.explains(problem, map.find(problem.path).path),
  );
  return { workflow: null, problems };
}

const ROUTE_KEYS = ['next', 'transitions', 'gate', 'gates', 'entry'];
const NAMED_BY: Readonly<Record<string, string>> = {
  unknown_tool: 'tools',
  unknown_schema: 'schemas',
  unknown_gate: 'gates',
  unknown_phase: 'phases',
};
const EVIDENCE_KEYS = [
  'required_artifacts',
  'requiredArtifacts',
  'required_evidence',
  'requiredEvidence',
  'parallel',
];

class Broken {
  readonly #shape: readonly ShapeProblem[];
  /** Whether any way between phases may be missing from the draft. */
  readonly #ways: boolean;

  constructor(shape: readonly ShapeProblem[]) {
    this.#shape = shape;
    this.#ways = shape.some(({ path, code }) => {
      const [head, , key] = path;
      if (head === 'gates' || head === 'entry') return true;
      if (head !== 'phases') return false;
      return (
        path.length < 3 || (code === 'unknown_key' && path.length === 3) || ROUTE_KEYS.includes(String(key))
      );
    });
  }

  explains(problem: DraftProblem, at: YamlPath): boolean {
    const { code } = problem;
    if (this.#ways && GRAPH_CODES.includes(code)) return true;
    if (this.#shape.some(({ path }) => isWithin(at, path))) return true;
    if (WHOLE_CODES.includes(code) && this.#shape.some(({ path }) => isWithin(path, at.slice(0, 2))))
      return true;
    const names = NAMED_BY[code];
    // The names themselves cannot be told when what holds them is not a map, or when one in a list has no id.
    if (names !== undefined && this.#shape.some(({ path }) => path[0] === names && namesLost(path)))
      return true;
    return code === 'unknown_path' && this.#shape.some(({ path }) => hidesNames(path, at));
  }
}

function namesLost(path: YamlPath): boolean {
  return path.length === 1 || (typeof path[1] === 'number' && (path.length === 2 || path[2] === 'id'));
}

function hidesNames(path: YamlPath, at: YamlPath): boolean {
  if (path[0] === 'params') return path.length === 1;
  return path[0] === 'phases' && path[1] === at[1] && EVIDENCE_KEYS.includes(String(path[2]));
}

function isWithin(path: YamlPath, container: YamlPath): boolean {
  return container.length <= path.length && container.every((step, index) => step === path[index]);
}

import { defineWorkflow, type Known, type Workflow, type WorkflowDraft } from '@phasegate/core';
import { type DraftProblem, GRAPH_CODES, WHOLE_CODES } from '@phasegate/core/model';
import type { ShapeProblem } from './shapeProblems.ts';
import type { SourceMap } from './sourceMap.ts';
import type { YamlPath } from './yamlTree.ts';

/** The workflow, and what is wrong with its meaning as far as that can be told. */
export interface Meaning {
  readonly workflow: Workflow | null;
  readonly problems: readonly DraftProblem[];
  /** How many more were found. */
  readonly leftOut?: { readonly errors: number; readonly notes: number };
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
  if (shape.length === 0) {
    const result = defineWorkflow(draft, known);
    return result.ok ? { ...result, problems: result.notes } : { ...result, workflow: null };
  }
  const broken = new Broken(shape);
  const result = defineWorkflow(
    draft,
    known,
    (problem) => !broken.explains(problem, map.find(problem.path).path),
  );
  return { ...result, workflow: null, problems: result.ok ? result.notes : result.problems };
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
  /** The places of what is broken, and those around them as far as two steps, as text: there may be many. */
  readonly #places = new Set<string>();
  readonly #around = new Set<string>();
  /** What holds names that cannot be told. */
  readonly #lost = new Set<YamlPath[number] | undefined>();
  /** Phases whose evidence cannot be told. */
  readonly #hiding = new Set<YamlPath[number] | undefined>();
  readonly #noParams: boolean;
  /** Whether any way between phases may be missing from the draft. */
  readonly #ways: boolean;

  constructor(shape: readonly ShapeProblem[]) {
    for (const { path } of shape) {
      this.#places.add(JSON.stringify(path));
      for (const steps of [0, 1, 2])
        if (path.length >= steps) this.#around.add(JSON.stringify(path.slice(0, steps)));
      if (namesLost(path)) this.#lost.add(path[0]);
      if (path[0] === 'phases' && EVIDENCE_KEYS.includes(String(path[2]))) this.#hiding.add(path[1]);
    }
    this.#noParams = shape.some(({ path }) => path[0] === 'params' && path.length === 1);
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
    if (at.some((_, index) => this.#isBroken(at.slice(0, index))) || this.#isBroken(at)) return true;
    if (WHOLE_CODES.includes(code) && this.#around.has(JSON.stringify(at.slice(0, 2)))) return true;
    const names = NAMED_BY[code];
    // The names themselves cannot be told when what holds them is not a map, or when one in a list has no id.
    if (names !== undefined && this.#lost.has(names)) return true;
    return code === 'unknown_path' && (this.#noParams || this.#hiding.has(at[1]));
  }

  #isBroken(path: YamlPath): boolean {
    return this.#places.has(JSON.stringify(path));
  }
}

function namesLost(path: YamlPath): boolean {
  return path.length === 1 || (typeof path[1] === 'number' && (path.length === 2 || path[2] === 'id'));
}

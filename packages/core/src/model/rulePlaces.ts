import { type Json, own } from '../json.ts';
import { type Phase, type PhaseId, positionOf, type Workflow } from './workflow.ts';

/** A rule of a phase by the name its author gave it: `writes`, `tool_constraints.bash`, `postconditions.0`. */
export interface Rule {
  readonly name: string;
  readonly phase: PhaseId;
}

/**
 * Where the rules of a workflow are written: for each phase, in their order, where it is and the lines of its rules. No
 * name of a phase is in it, and nothing is judged by it; it stands beside the workflow, whose hash knows no lines.
 */
export type RulePlaces = readonly PhasePlaces[];

/** `phase` is a file with a line; a rule is a line of the same file, or a file with a line. */
type PhasePlaces = Readonly<Record<string, string | number>>;

/** Finds where a part of the definition is written, or the nearest part that is known. */
type Locate = (path: readonly (string | number)[]) => { readonly file: string; readonly line: number } | null;

/** Reads the places of all rules; undefined where no file says any. */
export function rulePlaces({ phases }: Pick<Workflow, 'phases'>, locate: Locate): RulePlaces | undefined {
  const found = phases.map((phase, index) => placesIn(phase, (path) => locate(['phases', index, ...path])));
  return found.some((places) => Object.keys(places).length > 0) ? found : undefined;
}

/** The file and line of a rule, or of its phase where the rule was left to its default; null where nobody knows. */
export function placeOfRule(workflow: Workflow, places: Json | undefined, rule: Rule): string | null {
  const ours = Array.isArray(places) ? places[positionOf(workflow, rule.phase)] : undefined;
  const phase = own(ours ?? null, 'phase');
  if (typeof phase !== 'string') return null;
  const place = own(ours ?? null, rule.name);
  if (typeof place === 'number') return `${phase.slice(0, phase.lastIndexOf(':'))}:${place}`;
  return typeof place === 'string' ? place : phase;
}

function placesIn(phase: Phase, locate: Locate): PhasePlaces {
  const here = locate([]);
  if (here === null) return {};
  const places: [string, string | number][] = [['phase', `${here.file}:${here.line}`]];
  for (const [name, path] of rulesOf(phase)) {
    const place = locate(path);
    if (place === null || (place.file === here.file && place.line === here.line)) continue;
    places.push([name, place.file === here.file ? place.line : `${place.file}:${place.line}`]);
  }
  return Object.fromEntries(places);
}

/** Names of rules with their paths in the draft of the phase. */
function* rulesOf(phase: Phase): Iterable<readonly [string, readonly (string | number)[]]> {
  yield ['allowed_tools', ['allowedTools']];
  if (phase.tools.forbidden.length > 0) yield ['forbidden_tools', ['forbiddenTools']];
  for (const tool of Object.keys(phase.tools.constraints))
    yield [`tool_constraints.${tool}`, ['toolConstraints', tool]];
  yield ['writes', ['writes']];
  if (phase.evidence.artifacts.length > 0) yield ['evidence', ['artifacts']];
  else if (phase.evidence.fields.length > 0) yield ['evidence', ['fields']];
  for (const list of ['preconditions', 'postconditions'] as const)
    for (const index of phase[list].keys()) yield [`${list}.${index}`, [list, index]];
  for (const index of phase.blockers.keys()) yield [`blockers.${index}`, ['gates', 0, 'blockers', index]];
  if (phase.humanGate !== null) yield ['gate', ['gates']];
}

import type { PropertyDraft, WorkflowDraft } from '../draft.ts';
import type { DraftPath, Problems } from '../problems.ts';
import type { Phase, PhaseId, Property, PropertySubject, Workflow } from '../workflow.ts';

const KINDS = ['always', 'never', 'before'] as const;

/** The author's promises with every name found; a promise about nothing is a problem, as it would hold of anything. */
export function compileProperties(
  { properties = [], gates = {} }: WorkflowDraft,
  phases: readonly Phase[],
  problems: Problems,
): Pick<Workflow, 'properties'> {
  const seen = new Set<string>();
  const subjects = properties.length === 0 ? new Map() : subjectsOf(phases);
  const compiled = properties.flatMap((draft, index): Property[] => {
    const path = ['properties', index];
    if (seen.has(draft.name))
      problems.error([...path, 'name'], 'duplicate_property', `property \`${draft.name}\` is defined twice`);
    seen.add(draft.name);
    const kind = kindOf(draft, path, problems);
    if (kind === null) return [];
    const least = kind === 'before' ? 2 : 1;
    const names = draft[kind] ?? [];
    if (names.length < least) {
      const message = `property \`${draft.name}\` names ${names.length === 0 ? 'nothing' : 'one thing'}: give \`${kind}\` ${least === 1 ? 'a phase or a human gate' : 'at least two, in order'}`;
      problems.error([...path, kind], 'empty_property', message);
    }
    const of = names.flatMap((name, position) => {
      const found = subjects.get(String(name));
      if (found !== undefined) return [found];
      problems.error(
        [...path, kind, position],
        'unknown_name',
        unknown(draft.name, name, { subjects, gates, problems }),
      );
      return [];
    });
    return [{ name: draft.name, kind, of }];
  });
  return compiled.length === 0 ? {} : { properties: compiled };
}

function kindOf(draft: PropertyDraft, path: DraftPath, problems: Problems): Property['kind'] | null {
  const given = KINDS.filter((kind) => draft[kind] !== undefined);
  if (given.length === 1) return given[0] as Property['kind'];
  const message = `property \`${draft.name}\` needs one of \`always\`, \`never\` and \`before\``;
  problems.error(path, 'bad_property', message);
  return null;
}

/** What a property may name: the phases, and the human gates that have no phase's name. */
function subjectsOf(phases: readonly Phase[]): ReadonlyMap<string, PropertySubject> {
  const subjects = new Map<string, PropertySubject>();
  for (const { id } of phases)
    if (!subjects.has(String(id))) subjects.set(String(id), { kind: 'phase', phase: id });
  for (const { humanGate } of phases)
    if (humanGate !== null && !subjects.has(humanGate.id))
      subjects.set(humanGate.id, { kind: 'gate', gate: humanGate.id });
  return subjects;
}

interface Names {
  readonly subjects: ReadonlyMap<string, PropertySubject>;
  readonly gates: Readonly<Record<string, unknown>>;
  readonly problems: Problems;
}

function unknown(property: string, name: PhaseId, { subjects, gates, problems }: Names): string {
  if (Object.hasOwn(gates, String(name)))
    return `property \`${property}\` names the gate \`${name}\`, at which no human decides: name the phase it stands behind`;
  const hint = problems.hint(name, () => subjects.keys());
  return `property \`${property}\` names \`${name}\`, which is not a phase and no human gate${hint}`;
}

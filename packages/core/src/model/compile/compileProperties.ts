import type { PropertyDraft, WorkflowDraft } from '../draft.ts';
import type { DraftPath, Problems } from '../problems.ts';
import { didYouMean } from '../suggest.ts';
import type { Phase, PhaseId, Property, PropertySubject, Workflow } from '../workflow.ts';

const KINDS = ['always', 'never', 'before'] as const;

/** The author's promises with every name found; a promise about nothing is a problem, as it would hold of anything. */
export function compileProperties(
  { properties = [], gates = {} }: WorkflowDraft,
  phases: readonly Phase[],
  problems: Problems,
): Pick<Workflow, 'properties'> {
  const compiled = properties.flatMap((draft, index): Property[] => {
    const path = ['properties', index];
    if (properties.findIndex(({ name }) => name === draft.name) < index)
      problems.error([...path, 'name'], 'duplicate_property', `property \`${draft.name}\` is defined twice`);
    const kind = kindOf(draft, path, problems);
    if (kind === null) return [];
    const least = kind === 'before' ? 2 : 1;
    const names = draft[kind] ?? [];
    if (names.length < least) {
      const message = `property \`${draft.name}\` names ${names.length === 0 ? 'nothing' : 'one thing'}: give \`${kind}\` ${least === 1 ? 'a phase or a human gate' : 'at least two, in order'}`;
      problems.error([...path, kind], 'empty_property', message);
    }
    const of = names.flatMap((name, position) => {
      const found = subjectOf(name, phases);
      if (found !== null) return [found];
      problems.error([...path, kind, position], 'unknown_name', unknown(draft.name, name, { phases, gates }));
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

function subjectOf(name: PhaseId, phases: readonly Phase[]): PropertySubject | null {
  const phase = phases.find(({ id }) => id === name) ?? phases.find(({ id }) => String(id) === String(name));
  if (phase !== undefined) return { kind: 'phase', phase: phase.id };
  const gate = phases.find(({ humanGate }) => humanGate?.id === String(name))?.humanGate;
  return gate == null ? null : { kind: 'gate', gate: gate.id };
}

function unknown(
  property: string,
  name: PhaseId,
  known: { readonly phases: readonly Phase[]; readonly gates: Readonly<Record<string, unknown>> },
): string {
  if (Object.hasOwn(known.gates, String(name)))
    return `property \`${property}\` names the gate \`${name}\`, at which no human decides: name the phase it stands behind`;
  const names = known.phases.flatMap(({ id, humanGate }) => [
    String(id),
    ...(humanGate ? [humanGate.id] : []),
  ]);
  const hint = didYouMean(String(name), names);
  return `property \`${property}\` names \`${name}\`, which is not a phase and no human gate${hint}`;
}

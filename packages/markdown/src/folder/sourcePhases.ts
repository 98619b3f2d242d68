import type { Json, JsonObject, PhaseDraft, PhaseId } from '@phasegate/core';
import { readPhaseId } from '@phasegate/core/model';
import type { ParsedSource, SourceCriterion, SourcePhase, SourceTask } from '@phasegate/core/ports';

/** The phases of a source as drafts, numbered on from the static ones where the two collide. */
export function draftSourcePhases(source: ParsedSource, statics: readonly PhaseId[]): readonly PhaseDraft[] {
  const taken = new Set(statics.map(String));
  const written = source.phases.map((phase) => readPhaseId(phase.id));
  const collides = written.some((id) => taken.has(String(id)));
  const first = Math.max(-1, ...statics.filter((id) => typeof id === 'number')) + 1;
  const ids = collides ? written.map((_, index) => first + index) : written;
  return source.phases.map((phase, index) => {
    const id = ids[index] as PhaseId;
    const place: PlacedSource = { id, name: phase.name, next: ids[index + 1] ?? null };
    return {
      id,
      name: phase.name,
      description: phase.description,
      content: { kind: 'template', values: phaseValues(phase, place) },
      ...(String(id) === phase.id ? {} : { sourceId: phase.id }),
      tasks: phase.tasks.map((task, position) => ({
        name: task.name,
        acceptanceCriteria: task.acceptanceCriteria.map(({ text }) => text),
        content: {
          kind: 'template' as const,
          values: taskValues(task, place, position + 1 < phase.tasks.length ? position + 2 : null),
        },
      })),
      ...evidenceOf(phase),
    };
  });
}

interface PlacedSource {
  readonly id: PhaseId;
  readonly name: string;
  readonly next: PhaseId | null;
}

const NONE = 'none';
const UNKNOWN = 'not given';

function phaseValues(phase: SourcePhase, { id, name, next }: PlacedSource): Readonly<Record<string, string>> {
  return {
    PHASE_NUMBER: String(id),
    PHASE_NAME: name,
    PHASE_DESCRIPTION: phase.description || name,
    ESTIMATED_DURATION: phase.estimatedDuration || UNKNOWN,
    TASK_COUNT: String(phase.tasks.length),
    VALIDATION_GATE: boxes(phase.validationGate) || 'None beyond the tasks of this phase',
    NEXT_PHASE_NUMBER: next === null ? NONE : String(next),
  };
}

function taskValues(
  task: SourceTask,
  { id, name }: PlacedSource,
  next: number | null,
): Readonly<Record<string, string>> {
  const dependencies = [task.dependencies.join(', '), task.dependencyNotes ?? ''].filter(
    (part) => part !== '',
  );
  return {
    TASK_ID: task.id,
    TASK_NAME: task.name,
    PHASE_NUMBER: String(id),
    PHASE_NAME: name,
    TASK_DESCRIPTION: task.description || task.name,
    ESTIMATED_TIME: task.estimatedTime || UNKNOWN,
    DEPENDENCIES: dependencies.join(' – ') || 'None',
    ACCEPTANCE_CRITERIA: boxes(task.acceptanceCriteria) || 'None given',
    NEXT_TASK_NUMBER: next === null ? NONE : String(next),
  };
}

/** Boxes are empty whatever the source says: what is ticked there was not done in this run. */
function boxes(criteria: readonly SourceCriterion[]): string {
  return criteria.map(({ text }) => `- [ ] ${text.replace(/\r?\n/g, '\n  ')}`).join('\n');
}

/**
 * What completes a phase of a source: which tasks were done, and for every item of its gate what shows that it holds.
 * A yes would be a claim; a sentence can be looked at.
 */
function evidenceOf(phase: SourcePhase): Pick<PhaseDraft, 'fields' | 'artifacts'> {
  const gate = phase.validationGate;
  const fields: NonNullable<PhaseDraft['fields']> = [
    ...(phase.tasks.length === 0
      ? []
      : [
          {
            name: 'tasks_completed',
            type: 'list',
            rule: 'non_empty' as const,
            description: 'Ids of the tasks that were done',
            exactly: [...new Set(phase.tasks.map(({ id }) => id))],
          },
        ]),
    ...(phase.tasks.length === 0 && gate.length === 0
      ? [
          {
            name: 'summary',
            type: 'str',
            rule: 'non_empty' as const,
            description: 'What was done in this phase',
          },
        ]
      : []),
  ];
  if (gate.length === 0) return { fields };
  const description = 'For every item of the validation gate, what shows that it holds';
  return { fields, artifacts: [{ type: 'validation_gate', description, schema: gateSchema(gate) }] };
}

function gateSchema(gate: readonly SourceCriterion[]): JsonObject {
  const properties: Record<string, Json> = {};
  gate.forEach(({ text }, index) => {
    properties[`item_${index + 1}`] = { type: 'string', minLength: 10, description: text };
  });
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

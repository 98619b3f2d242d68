import type { ParsedSource, SourceCriterion, SourcePhase, SourceTask } from '@phasegate/core/ports';

/** One phase of a source. */
export type WirePhase = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly estimated_duration: string;
  readonly tasks: readonly WireTask[];
  readonly validation_gate: readonly SourceCriterion[];
};

/** One task of a source. */
export type WireTask = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly estimated_time: string;
  readonly dependencies: readonly string[];
  readonly dependency_notes?: string;
  readonly acceptance_criteria: readonly SourceCriterion[];
  readonly status: SourceTask['status'];
};

/** What a parser understood of a source, and what it did not. */
export type WireSource = {
  readonly phases: readonly WirePhase[];
  readonly warnings: ParsedSource['warnings'];
};

/** What a parser understood of a source, and what it did not. */
export function encodeSource({ phases, warnings }: ParsedSource): WireSource {
  return { phases: phases.map(encodeSourcePhase), warnings };
}

function encodeSourcePhase(phase: SourcePhase): WirePhase {
  const { id, name, description, estimatedDuration, tasks, validationGate } = phase;
  return {
    id,
    name,
    description,
    estimated_duration: estimatedDuration,
    tasks: tasks.map(encodeSourceTask),
    validation_gate: validationGate,
  };
}

function encodeSourceTask(task: SourceTask): WireTask {
  const { id, name, description, estimatedTime, dependencies, dependencyNotes } = task;
  return {
    id,
    name,
    description,
    estimated_time: estimatedTime,
    dependencies,
    ...(dependencyNotes === undefined ? {} : { dependency_notes: dependencyNotes }),
    acceptance_criteria: task.acceptanceCriteria,
    status: task.status,
  };
}

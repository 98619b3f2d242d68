import type { Json, JsonObject } from '../json.ts';
import { type Phase, type PhaseId, phaseById } from '../model/workflow.ts';
import type { Command } from './command.ts';
import type { Decision } from './decide.ts';
import { taskText } from './phaseText.ts';
import type { Run } from './run.ts';
import { findPhase, isDynamic, type SkippedPhase, skippedPhase } from './viewFor.ts';

/** What came of a command, beside the verdict and the run after it: what neither of the two says. */
export type CommandOutcome =
  /** The phase was left: for the next one, or the run has ended. */
  | { readonly kind: 'phase_completed'; readonly phase: PhaseId }
  /** The checks have passed, and a human must choose. */
  | { readonly kind: 'gate_opened' }
  /** One item of a parallel phase: the phase goes on. */
  | { readonly kind: 'item_completed'; readonly item: string | null }
  /** The phase was not completed. `skipped` where it is not the current one. */
  | {
      readonly kind: 'phase_refused';
      readonly examples: JsonObject;
      readonly skipped: SkippedPhase | null;
    }
  | {
      readonly kind: 'task';
      readonly phase: PhaseId;
      readonly number: number;
      readonly content: Json;
      readonly source: 'static' | 'dynamic';
    }
  | { readonly kind: 'task_refused'; readonly skipped: SkippedPhase | null }
  /** Any other command. */
  | { readonly kind: 'done' }
  | { readonly kind: 'refused' };

/** What came of a command that was decided on the run before it. */
export function outcomeOf(before: Run, command: Command, decision: Decision): CommandOutcome {
  if (command.kind === 'complete') return completeOutcome(before, command, decision);
  if (command.kind === 'fetch_task') return taskOutcome(before, command, decision);
  return { kind: decision.verdict.allowed ? 'done' : 'refused' };
}

function completeOutcome(
  before: Run,
  command: Extract<Command, { kind: 'complete' }>,
  decision: Decision,
): CommandOutcome {
  const { verdict, run } = decision;
  if (!verdict.allowed) {
    const examples = phaseById(before.workflow, before.phase)?.evidence.examples ?? {};
    return { kind: 'phase_refused', examples, skipped: skippedBy(before, command, decision) };
  }
  if (run.status === 'waiting') return { kind: 'gate_opened' };
  if (run.status !== 'completed' && run.epoch === before.epoch) {
    return { kind: 'item_completed', item: command.item ?? null };
  }
  return { kind: 'phase_completed', phase: command.phase };
}

function taskOutcome(
  before: Run,
  command: Extract<Command, { kind: 'fetch_task' }>,
  decision: Decision,
): CommandOutcome {
  if (!decision.verdict.allowed) {
    return { kind: 'task_refused', skipped: skippedBy(before, command, decision) };
  }
  const phase = findPhase(before.workflow, command.phase) as Phase;
  return {
    kind: 'task',
    phase: phase.id,
    number: command.task,
    content: taskText(before.workflow, phase, command.task),
    source: isDynamic(phase) ? 'dynamic' : 'static',
  };
}

function skippedBy(
  before: Run,
  { phase }: { readonly phase: PhaseId },
  { verdict }: Decision,
): SkippedPhase | null {
  if (verdict.allowed || verdict.blockers[0].code !== 'phase_sequence_violation') return null;
  return skippedPhase(before, phase);
}

import type { Json, JsonObject } from '../json.ts';
import { type Phase, phaseById } from '../model/workflow.ts';
import { nextActionFor } from './blockers.ts';
import type { Command } from './command.ts';
import type { Decision } from './decide.ts';
import { checkpointCriteria } from './evidence.ts';
import { openGate } from './gate.ts';
import { itemOf } from './holding.ts';
import { phaseText, taskText } from './phaseText.ts';
import type { Run } from './run.ts';
import type { Blocker, Warning } from './verdict.ts';
import { artifactsOf, findPhase, isDynamic, sequenceViolation } from './viewFor.ts';

/** The answer to a command in the words of the public contract, the same on every surface. */
export function answerFor(before: Run, command: Command, decision: Decision): JsonObject {
  if (command.kind === 'complete') return completeAnswer(before, command, decision);
  if (command.kind === 'fetch_task') return taskAnswer(before, command, decision);
  const { verdict, run } = decision;
  const common = { status: run.status, current_phase: run.phase, next_action: nextActionFor(run).text };
  if (verdict.allowed) return { ok: true, ...common };
  return { ok: false, error: verdict.blockers[0].code, ...common, blockers: blockersOf(verdict.blockers) };
}

/** Blockers as they cross a boundary. */
export function blockersOf(blockers: readonly Blocker[]): readonly JsonObject[] {
  return blockers.map((blocker) => ({
    code: blocker.code,
    message: blocker.message,
    next_action: blocker.nextAction.text,
  }));
}

/** Warnings as they cross a boundary; nothing where there are none. */
export function warningsOf(warnings: readonly Warning[] | undefined): {
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
} {
  if (warnings === undefined) return {};
  return { warnings: warnings.map(({ code, message }) => ({ code, message })) };
}

function completeAnswer(
  before: Run,
  command: Extract<Command, { kind: 'complete' }>,
  decision: Decision,
): JsonObject {
  const { verdict, run } = decision;
  // Whoever claimed the item is told what is left for them, not for the holder of the run.
  const claimant = command.item === undefined ? undefined : itemOf(before, command.item)?.holder;
  const next = nextActionFor(run, verdict.allowed ? (claimant ?? run.holder) : run.holder);
  const common = { current_phase: run.phase, status: run.status, next_action: next.text };
  if (!verdict.allowed) return { ...refusedAnswer(before, command, decision), ...common };
  const would = {
    ...(verdict.wouldRefuse === undefined ? {} : { would_refuse: blockersOf(verdict.wouldRefuse) }),
    ...warningsOf(verdict.warnings),
  };
  if (run.status === 'waiting') {
    const open = openGate(run);
    const gate =
      open === null
        ? null
        : {
            id: open.wait.gate,
            prompt: open.gate.prompt,
            options: open.gate.options.map((option) => ({
              label: option.label,
              requires_input: option.requiresInput,
            })),
          };
    return { checkpoint_passed: true, ...common, gate, ...would };
  }
  const done = { checkpoint_passed: true, phase_completed: command.phase, ...common, ...would };
  if (run.status === 'completed') return { ...done, workflow_complete: true, message: 'All phases complete' };
  if (run.epoch === before.epoch) {
    // One item of a parallel phase: the phase goes on.
    return { ...common, checkpoint_passed: true, item_completed: command.item ?? null, ...would };
  }
  const entered = phaseById(run.workflow, run.phase) as Phase;
  return {
    ...done,
    next_phase: entered.id,
    next_phase_content: phaseText(run.workflow, entered, { work: run.work }),
    checkpoint_criteria: checkpointCriteria(entered),
    artifacts_available: artifactsOf(run),
  };
}

function refusedAnswer(
  before: Run,
  command: Extract<Command, { kind: 'complete' }>,
  decision: Decision,
): JsonObject {
  const { verdict, run } = decision;
  if (verdict.allowed) throw new TypeError('nothing was refused');
  const { blockers } = verdict;
  const code = blockers[0].code;
  if (code === 'phase_sequence_violation') {
    return {
      checkpoint_passed: false,
      ...sequenceViolation(before, command.phase),
      ...escalated(run),
      blockers: blockersOf(blockers),
    };
  }
  const phase = phaseById(before.workflow, before.phase);
  const content = phase === undefined ? '' : phaseText(run.workflow, phase, { work: run.work });
  const common = {
    checkpoint_passed: false,
    error: code,
    message: blockers.map((blocker) => blocker.message).join('; '),
    blockers: blockersOf(blockers),
    attempt: run.work.attempts,
    current_phase_content: content,
  };
  if (code !== 'incomplete_checkpoint' || phase === undefined) return { ...common, ...escalated(run) };
  const missing = blockers
    .filter((blocker) => blocker.code === 'incomplete_checkpoint')
    .map((blocker) => blocker.message);
  return {
    ...common,
    phase: phase.id,
    missing_evidence: missing,
    required_format: checkpointCriteria(phase).required_evidence as Json,
    examples: phase.evidence.examples ?? {},
    message: 'Provide all required evidence to complete checkpoint',
    ...escalated(run),
  };
}

function escalated(run: Run): JsonObject {
  return run.status === 'escalated' ? { error: 'escalated', escalation: run.escalation.message } : {};
}

function taskAnswer(
  before: Run,
  command: Extract<Command, { kind: 'fetch_task' }>,
  decision: Decision,
): JsonObject {
  const { verdict, run } = decision;
  const next_action = nextActionFor(run).text;
  if (!verdict.allowed) {
    const code = verdict.blockers[0].code;
    if (code === 'phase_sequence_violation')
      return { ...sequenceViolation(before, command.phase), next_action };
    return { error: code, message: verdict.blockers[0].message, next_action };
  }
  const phase = findPhase(before.workflow, command.phase) as Phase;
  return {
    session_id: before.id,
    phase: phase.id,
    task_number: command.task,
    task_content: taskText(before.workflow, phase, command.task),
    source: isDynamic(phase) ? 'dynamic' : 'static',
    next_action,
  };
}

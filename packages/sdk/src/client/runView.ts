import type { Escalation, GateView, PhaseView, RunSummary, RunView } from '@phasegate/core';
import { decodeBlockers, decodeNext } from '#wire';
import type { Gate, PhaseAnswer, Run, RunFields, RunLine, Task } from './answers.ts';

/** A run off the wire, as the engine shows it. */
export function runViewOf(run: Run): RunView {
  return {
    run: run.run,
    workflow: run.workflow,
    title: run.title,
    target: run.target,
    params: run.params,
    status: run.status,
    mode: run.mode,
    ring: run.ring,
    trusted: run.trusted,
    epoch: run.epoch,
    holder: run.holder,
    phase: run.phase,
    current_phase: phaseViewOf(run),
    completed_phases: run.completed_phases,
    progress: run.progress,
    attempts: run.attempts,
    feedback: run.feedback,
    gate: run.gate === null ? null : gateViewOf(run.gate),
    questions: run.questions,
    answers: run.answers,
    escalation: escalationOf(run),
    reason: run.reason,
    started_at: run.started_at,
    updated_at: run.updated_at,
    next_action: decodeNext(run),
  };
}

/** What an agent works on, as the engine shows its run. */
export function taskViewOf({ id, item: _item, ...fields }: Task): RunView {
  return runViewOf({ run: id, ...fields });
}

/** The phase of an answer; null where it has none. */
export function phaseViewOf(answer: RunFields | PhaseAnswer): PhaseView | null {
  const { phase, phase_number, phase_overview, source_id } = answer;
  if (phase === null || phase_number === undefined) return null;
  return {
    phase,
    phase_number,
    phase_name: answer.phase_name ?? String(phase),
    phase_content: answer.phase_content ?? '',
    artifacts_from_previous: answer.artifacts_from_previous ?? {},
    checkpoint_criteria: answer.checkpoint_criteria ?? {},
    tasks: answer.tasks ?? [],
    task_count: answer.task_count ?? 0,
    ...(phase_overview === undefined ? {} : { phase_overview }),
    ...(source_id === undefined ? {} : { source_id }),
  };
}

/** One line of the list of runs. */
export function runSummaryOf({ started_at, updated_at, ...line }: RunLine): RunSummary {
  return { ...line, startedAt: started_at, updatedAt: updated_at };
}

function gateViewOf(gate: Gate): GateView {
  const { id, prompt, options, since, expires_at } = gate;
  const { approvers = [], quorum = 1, votes = [], context = {} } = gate;
  return { id, prompt, options, since, expires_at, approvers, quorum, votes, context };
}

function escalationOf({ escalation }: Run): Escalation | null {
  if (escalation === null) return null;
  const reason = escalation.reason as Escalation['reason'];
  return { ...escalation, reason, blockers: decodeBlockers(escalation.blockers) };
}

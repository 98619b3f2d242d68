import type { GateView, Json, JsonObject, PhaseView, RunView } from '@phasegate/core';
import { spellNext } from '@phasegate/wire';
import { MCP } from './spell.ts';

/** The current phase of a run as `get_current_phase` answers it, or that the run has ended. */
export function describePhase(view: RunView): JsonObject {
  const phase = view.current_phase;
  if (phase === null) return { ...ended(view), next_action: spellNext(view, MCP) };
  return {
    session_id: view.run,
    status: view.status,
    ...wirePhase(phase),
    ...waitOf(view),
    next_action: spellNext(view, MCP),
  };
}

/** A phase as it is answered. */
export function wirePhase(phase: PhaseView): JsonObject {
  return { ...phase, tasks: phase.tasks.map(({ number, name }) => ({ number, name })) };
}

/** Where a run is, without the text of its phase. */
export function describeState(view: RunView): JsonObject {
  const { run, workflow, target, status, completed_phases, progress, attempts, ring, trusted } = view;
  const state: Record<string, Json> = {
    session_id: run,
    workflow,
    target,
    status,
    current_phase: view.phase,
    completed_phases,
    progress: { ...progress },
    attempts,
    gate: view.gate === null ? null : wireGate(view.gate),
    ring,
    trusted,
  };
  if (view.feedback !== null) state.feedback = view.feedback;
  if (view.questions.length > 0)
    state.questions = view.questions.map(({ text, options }) => ({ text, options }));
  if (view.answers.length > 0) {
    state.answers = view.answers.map(({ question, asked, text, by, elicited }) => ({
      question,
      ...(asked === undefined ? {} : { asked }),
      text,
      by,
      elicited,
    }));
  }
  if (view.escalation !== null) {
    const { reason, message } = view.escalation;
    state.escalation = { reason, message };
  }
  if (view.reason !== null) state.reason = view.reason;
  return { ...state, next_action: spellNext(view, MCP) };
}

/** A gate as an agent may see it: what is asked, not what a human is shown. */
export function wireGate({ id, prompt, options, expires_at }: GateView): JsonObject {
  return {
    id,
    prompt,
    options: options.map(({ label, requires_input }) => ({ label, requires_input })),
    ...(expires_at === null ? {} : { expires_at }),
  };
}

function waitOf({ gate }: RunView): JsonObject {
  return gate === null ? {} : { gate: wireGate(gate) };
}

function ended({ run, status, reason }: RunView): JsonObject {
  const message =
    status === 'completed'
      ? 'All phases complete'
      : `the run is ${status}${reason === null ? '' : `: ${reason}`}`;
  return { session_id: run, status, phase: null, message };
}

import type { JsonObject, PhasegateError, PhaseView, RunView } from '@phasegate/core';
import { encodeFault } from './fault.ts';
import { encodeGoal } from './goal.ts';
import { type Dialect, spellNext } from './nextCall.ts';
import { encodeAskedGate, encodePhase, endedMessage } from './run.ts';

/** The current phase of a run that is called a session, or that it has ended. */
export function encodeSessionPhase(view: RunView, dialect: Dialect): JsonObject {
  const { run, status, current, gate } = view;
  const next_action = spellNext(view, dialect);
  if (current === null)
    return { session_id: run, status, phase: null, message: endedMessage(view), next_action };
  return {
    ...encodeReadPhase(view, current, dialect),
    ...encodeGoal(view),
    ...(gate === null ? {} : { gate: sessionGate(gate) }),
  };
}

/** A phase of a session that may be read, current or not. */
export function encodeReadPhase(view: RunView, phase: PhaseView, dialect: Dialect): JsonObject {
  const { run, status } = view;
  return { session_id: run, status, ...encodePhase(phase), next_action: spellNext(view, dialect) };
}

/** Where a session is, without the text of its phase; what there is nothing of is left out. */
export function encodeState(view: RunView, dialect: Dialect): JsonObject {
  const { workflow, target, status, progress, attempts, ring, trusted, gate, escalation } = view;
  const { feedback, questions, answers, reason, violations, overrides } = view;
  return {
    session_id: view.run,
    workflow,
    target,
    ...encodeGoal(view),
    status,
    current_phase: view.phase,
    completed_phases: view.completedPhases,
    progress: { ...progress },
    attempts,
    gate: gate === null ? null : sessionGate(gate),
    ring,
    trusted,
    ...(feedback === null ? {} : { feedback }),
    ...(violations === undefined ? {} : { violations: violations.map(encodeViolation) }),
    ...(overrides === undefined
      ? {}
      : { overrides: overrides.map(({ phase, reason: why, by }) => ({ phase, reason: why, by })) }),
    ...(questions.length === 0
      ? {}
      : { questions: questions.map(({ text, options }) => ({ text, options })) }),
    ...(answers.length === 0 ? {} : { answers: answers.map(({ at: _at, ...answer }) => answer) }),
    ...(escalation === null
      ? {}
      : { escalation: { reason: escalation.reason, message: escalation.message } }),
    ...(reason === null ? {} : { reason }),
    next_action: spellNext(view, dialect),
  };
}

/** What went wrong, in as few words as an agent needs: every one of them is paid for. */
export function encodeSessionFault(error: PhasegateError): JsonObject {
  const { unaccepted: _files, uncertain: _hinted, problems, ...fault } = encodeFault(error);
  if (problems === undefined) return fault;
  return { ...fault, problems: problems.map(({ code: _code, ...place }) => place) };
}

function encodeViolation({ path, how, by }: NonNullable<RunView['violations']>[number]): JsonObject {
  return { path, how, ...(by === undefined ? {} : { by }) };
}

function sessionGate(gate: NonNullable<RunView['gate']>): JsonObject {
  const { expiresAt } = gate;
  return { ...encodeAskedGate(gate), ...(expiresAt === null ? {} : { expires_at: expiresAt }) };
}

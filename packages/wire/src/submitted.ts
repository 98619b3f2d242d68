import type {
  Command,
  Json,
  JsonObject,
  PhaseId,
  RunView,
  Submitted,
  Verdict,
  Warning,
} from '@phasegate/core';
import type { CommandOutcome, SkippedPhase } from '@phasegate/core/engine';
import type { PhaseTask } from './answers.ts';
import { decodeBlockers, encodeAsk, encodeBlockers, type WireBlocker } from './blockers.ts';
import { type Dialect, spellNext } from './nextCall.ts';
import { ALL_COMPLETE, encodeAskedGate, encodeCriteria } from './run.ts';

/** What came of a command, e.g. the answer of `complete_phase` or `get_task`. */
export function encodeSubmitted({ verdict, view, outcome }: Submitted, dialect: Dialect): JsonObject {
  const next = { next_action: spellNext(view, dialect) };
  const common = { current_phase: view.phase, status: view.status, ...next };
  const refusal = verdict.allowed
    ? {}
    : { error: verdict.blockers[0].code, message: verdict.blockers[0].message };
  const blockers = verdict.allowed
    ? {}
    : {
        blockers: encodeBlockers(verdict.blockers, view, dialect),
        ...(view.status === 'active' ? encodeAsk(verdict.blockers, view.run, dialect) : {}),
      };
  const warned = warningsIn(verdict);
  switch (outcome.kind) {
    case 'phase_completed':
      return { ...passed(outcome, view), ...common, ...encodeLeniency(verdict, view, dialect) };
    case 'gate_opened': {
      const gate = view.gate === null ? null : encodeAskedGate(view.gate);
      return { checkpoint_passed: true, ...common, gate, ...encodeLeniency(verdict, view, dialect) };
    }
    case 'item_completed': {
      const item_completed = outcome.item;
      return {
        ...common,
        checkpoint_passed: true,
        item_completed,
        ...encodeLeniency(verdict, view, dialect),
      };
    }
    case 'phase_refused':
      return { ...notPassed(outcome, view, verdict), ...blockers, ...common, ...warned };
    case 'task': {
      const { phase, number, content, source } = outcome;
      const task = { phase, task_number: number, task_content: content, source };
      return { session_id: view.run, ...task, ...next, ...warned };
    }
    case 'task_refused':
      return { ...refusal, ...skippedFields(outcome.skipped, view), ...next, ...warned };
    case 'done':
      return { ok: true, ...common, ...warned };
    case 'refused':
      return { ok: false, ...refusal, ...common, ...blockers, ...warned };
  }
}

/** One task of a phase that was fetched. */
export function encodeFetchedTask({ view, outcome }: Submitted, dialect: Dialect): PhaseTask {
  if (outcome.kind !== 'task') throw new TypeError('no task was fetched');
  const { phase, number, content, source } = outcome;
  const task = { phase, task_number: number, task_content: String(content), source };
  return { run: view.run, ...task, next_action: spellNext(view, dialect) };
}

/** What permissive mode let through, and what did not hold without blocking. */
export function encodeLeniency(
  verdict: Verdict,
  view: RunView,
  dialect: Dialect,
): { readonly would_refuse?: readonly WireBlocker[]; readonly warnings?: readonly Warning[] } {
  if (!verdict.allowed || verdict.wouldRefuse === undefined) return warningsIn(verdict);
  return { would_refuse: encodeBlockers(verdict.wouldRefuse, view, dialect), ...warningsIn(verdict) };
}

/** The refusal of a skipped phase: the content to act on, and nothing of the phase asked for. */
export function encodeSkipped({ message, artifacts }: SkippedPhase, view: RunView): SkippedFields {
  const { phase, status } = view;
  return {
    error: 'phase_sequence_violation',
    message,
    reason: phase === null ? `The run is ${status}` : `Currently on Phase ${phase}`,
    required_action:
      phase === null ? 'Nothing is left to do in this run' : `Complete Phase ${phase} checkpoint first`,
    violation_type: 'attempted_skip',
    current_phase: phase,
    current_phase_content: view.current?.content ?? '',
    artifacts_available: artifacts,
    progress: { ...view.progress },
  };
}

/** The refusal of a skipped phase. */
export type SkippedFields = {
  readonly error: 'phase_sequence_violation';
  readonly message: string;
  readonly reason: string;
  readonly required_action: string;
  readonly violation_type: 'attempted_skip';
  readonly current_phase: PhaseId | null;
  readonly current_phase_content: string;
  readonly artifacts_available: JsonObject;
  readonly progress: JsonObject;
};

type OutcomeOf<Kind> = Extract<CommandOutcome, { readonly kind: Kind }>;

function passed({ phase }: OutcomeOf<'phase_completed'>, view: RunView): JsonObject {
  const done = { checkpoint_passed: true, phase_completed: phase };
  if (view.status === 'completed') return { ...done, workflow_complete: true, message: ALL_COMPLETE };
  return {
    ...done,
    next_phase: view.phase,
    next_phase_content: view.current?.content ?? '',
    checkpoint_criteria: view.current === null ? {} : encodeCriteria(view.current),
    artifacts_available: view.current?.artifacts ?? {},
  };
}

function notPassed(
  { examples, skipped }: OutcomeOf<'phase_refused'>,
  view: RunView,
  verdict: Verdict,
): JsonObject {
  const reasons = verdict.allowed ? [] : verdict.blockers;
  const escalated =
    view.escalation === null ? {} : { error: 'escalated', escalation: view.escalation.message };
  if (skipped !== null) return { checkpoint_passed: false, ...encodeSkipped(skipped, view), ...escalated };
  const error = reasons[0]?.code ?? '';
  const common = {
    checkpoint_passed: false,
    error,
    message: reasons.map(({ message }) => message).join('; '),
    attempt: view.attempts,
    current_phase_content: view.current?.content ?? '',
  };
  if (error !== 'incomplete_checkpoint' || view.phase === null) return { ...common, ...escalated };
  return {
    ...common,
    phase: view.phase,
    missing_evidence: reasons.flatMap(({ code, message }) => (code === error ? [message] : [])),
    required_format: view.current?.requiredEvidence ?? {},
    examples,
    message: 'Provide all required evidence to complete checkpoint',
    ...escalated,
  };
}

function skippedFields(skipped: SkippedPhase | null, view: RunView): JsonObject {
  return skipped === null ? {} : encodeSkipped(skipped, view);
}

function warningsIn({ warnings }: Verdict): { readonly warnings?: readonly Warning[] } {
  if (warnings === undefined) return {};
  return { warnings: warnings.map(({ code, message }) => ({ code, message })) };
}

/** The verdict in an answer: allowed, unless it has reasons to refuse. */
export function decodeVerdict(answer: JsonObject, refusal: readonly WireBlocker[] | null): Verdict {
  const { would_refuse, warnings } = answer as {
    readonly would_refuse?: readonly WireBlocker[];
    readonly warnings?: readonly Warning[];
  };
  const warned = warnings === undefined ? {} : { warnings };
  if (refusal !== null) {
    const [first, ...rest] = decodeBlockers(refusal);
    if (first === undefined) throw new TypeError('a refusal has a reason');
    return { allowed: false, blockers: [first, ...rest], ...warned };
  }
  const would = would_refuse === undefined ? {} : { wouldRefuse: decodeBlockers(would_refuse) };
  return { allowed: true, ...would, ...warned };
}

/** What a server answered to a command, and the run after it. */
export interface Answered {
  readonly command: Command;
  readonly verdict: Verdict;
  /** The body of the answer, or of the problem where it was refused. */
  readonly answer: JsonObject;
  readonly view: RunView;
}

/** What came of a command, as the engine says it. */
export function decodeOutcome({ command, verdict, answer, view }: Answered): CommandOutcome {
  const { kind } = command;
  if (kind === 'complete') {
    if (!verdict.allowed) {
      return { kind: 'phase_refused', examples: objectIn(answer, 'examples'), skipped: skippedIn(answer) };
    }
    if (view.status === 'waiting') return { kind: 'gate_opened' };
    const phase = phaseIn(answer, 'phase_completed');
    if (phase === undefined && view.status !== 'completed') {
      const item = answer.item_completed;
      return { kind: 'item_completed', item: typeof item === 'string' ? item : null };
    }
    return { kind: 'phase_completed', phase: phase ?? command.phase };
  }
  if (kind !== 'fetch_task') return { kind: verdict.allowed ? 'done' : 'refused' };
  if (!verdict.allowed) return { kind: 'task_refused', skipped: skippedIn(answer) };
  return {
    kind: 'task',
    phase: phaseIn(answer, 'phase') ?? command.phase,
    number: command.task,
    content: answer.task_content ?? null,
    source: answer.source === 'dynamic' ? 'dynamic' : 'static',
  };
}

/** The skipped phase a refusal is about; null where it is about something else. */
export function skippedIn(answer: JsonObject): SkippedPhase | null {
  if (answer.violation_type === undefined) return null;
  return { message: String(answer.message ?? ''), artifacts: objectIn(answer, 'artifacts_available') };
}

function phaseIn(answer: JsonObject, name: string): PhaseId | undefined {
  const phase = answer[name];
  return typeof phase === 'string' || typeof phase === 'number' ? phase : undefined;
}

function objectIn(answer: JsonObject, name: string): JsonObject {
  const value: Json | undefined = answer[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

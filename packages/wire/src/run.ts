import {
  type GateView,
  isJsonObject,
  type JsonObject,
  type NextAction,
  own,
  type PhaseView,
  type RunSummary,
  type RunView,
} from '@phasegate/core';
import type { Escalation, WorkflowOverview } from '@phasegate/core/engine';
import type { Gate, PhaseAnswer, PhaseFields, Run, RunFields, RunLine, Task } from './answers.ts';
import { decodeBlockers, decodeNext, encodeBlockers } from './blockers.ts';
import { decodeGoal, encodeGoal } from './goal.ts';
import { type Dialect, spellNext } from './nextCall.ts';

/** An answer about a run, with the next act in parts where the dialect has them. */
export type Stepped<T, D extends Dialect> = D['steps'] extends true
  ? T & { readonly next_step: NextAction }
  : T;

/** One run as its reader may see it. */
export function encodeRun<D extends Dialect>(view: RunView, dialect: D): Stepped<Run, D> {
  return { run: view.run, ...runFields(view, dialect) } as Stepped<Run, D>;
}

/** A run as the agent that works on it sees it; `item` where one item of its phase was claimed. */
export function encodeTask<D extends Dialect>(
  view: RunView,
  item: Task['item'] | null,
  dialect: D,
): Stepped<Task, D> {
  const task = { id: view.run, ...runFields(view, dialect), ...(item ? { item } : {}) };
  return task as Stepped<Task, D>;
}

/** The current phase alone, or that the run has ended. */
export function encodeRunPhase(view: RunView, phase: PhaseView | null, dialect: Dialect): PhaseAnswer {
  return {
    run: view.run,
    status: view.status,
    ...encodeGoal(view),
    gate: view.gate === null ? null : encodeGate(view.gate, dialect),
    ...(phase === null ? { phase: null, message: endedMessage(view) } : encodePhase(phase)),
    next_action: spellNext(view, dialect),
  };
}

/** A phase. */
export function encodePhase(phase: PhaseView): PhaseFields {
  return {
    phase: phase.id,
    phase_number: phase.number,
    phase_name: phase.name,
    phase_content: phase.content,
    artifacts_from_previous: phase.artifacts,
    checkpoint_criteria: encodeCriteria(phase),
    tasks: phase.tasks.map(({ number, name }) => ({ number, name })),
    task_count: phase.tasks.length,
    ...(phase.dynamic ? { phase_overview: phase.content } : {}),
    ...(phase.sourceId === null ? {} : { source_id: phase.sourceId }),
  };
}

/** What a phase must be completed with. */
export function encodeCriteria({ requiredEvidence }: Pick<PhaseView, 'requiredEvidence'>): JsonObject {
  return { required_evidence: requiredEvidence };
}

/** What a gate asks. */
export type AskedGate = Pick<Gate, 'id' | 'prompt' | 'options'>;

/** What a gate asks, and nothing of what a human is shown. */
export function encodeAskedGate({ id, prompt, options }: GateView): AskedGate {
  return {
    id,
    prompt,
    options: options.map(({ label, requiresInput }) => ({ label, requires_input: requiresInput })),
  };
}

/** An open gate: for humans also what they are shown and how far the vote is. */
export function encodeGate(gate: GateView, { reader }: Pick<Dialect, 'reader'>): Gate {
  const { since, expiresAt, approvers, quorum, context, shown, excluded } = gate;
  const asked = { ...encodeAskedGate(gate), since, expires_at: expiresAt };
  if (reader === 'agent') return asked;
  const votes = gate.votes.map(({ by, option }) => ({ by, option }));
  return {
    ...asked,
    approvers,
    quorum,
    votes,
    ...(excluded === undefined ? {} : { excluded }),
    context,
    ...(shown === undefined ? {} : { shown }),
  };
}

/** One line of the list of runs. */
export function encodeLine(summary: RunSummary): RunLine {
  const { startedAt, updatedAt, goal: _goal, ...line } = summary;
  return { ...line, ...encodeGoal(summary), started_at: startedAt, updated_at: updatedAt };
}

/** The titles of all phases. */
export type Overview = {
  readonly workflow: string;
  readonly title: string;
  readonly description: string;
  readonly total_phases: number;
  readonly phases: readonly Pick<PhaseFields, 'phase' | 'phase_number' | 'phase_name'>[];
};

/** The titles of all phases. */
export function encodeOverview({ phases, ...overview }: WorkflowOverview): Overview {
  return {
    ...overview,
    total_phases: phases.length,
    phases: phases.map(({ id, number, name }) => ({ phase: id, phase_number: number, phase_name: name })),
  };
}

/** What is said of a run that has no phase left. */
export function endedMessage({ status, reason }: RunView): string {
  if (status === 'completed') return ALL_COMPLETE;
  return `the run is ${status}${reason === null ? '' : `: ${reason}`}`;
}

/** What is said at the end of a run. */
export const ALL_COMPLETE = 'All phases complete';

function runFields<D extends Dialect>(view: RunView, dialect: D): Stepped<RunFields, D> {
  const { escalation } = view;
  return {
    workflow: view.workflow,
    title: view.title,
    target: view.target,
    ...encodeGoal(view),
    params: view.params,
    status: view.status,
    mode: view.mode,
    ring: view.ring,
    ...(view.folder === undefined ? {} : { folder: view.folder }),
    trusted: view.trusted,
    epoch: view.epoch,
    holder: view.holder,
    ...(view.current === null ? {} : encodePhase(view.current)),
    phase: view.phase,
    current_phase: view.phase,
    completed_phases: view.completedPhases,
    progress: view.progress,
    attempts: view.attempts,
    feedback: view.feedback,
    ...(view.violations === undefined ? {} : { violations: view.violations.map((one) => ({ ...one })) }),
    ...(view.waitsFor === undefined ? {} : { waits_for: { ...view.waitsFor } }),
    ...(view.overrides === undefined ? {} : { overrides: view.overrides.map((one) => ({ ...one })) }),
    ...(view.proven === undefined ? {} : { proven: view.proven.map((one) => ({ ...one })) }),
    gate: view.gate === null ? null : encodeGate(view.gate, dialect),
    questions: view.questions.map(({ text, options }) => ({ text, options })),
    answers: view.answers.map((answer) => ({ ...answer })),
    escalation:
      escalation === null
        ? null
        : { ...escalation, blockers: encodeBlockers(escalation.blockers, view, dialect) },
    reason: view.reason,
    started_at: view.startedAt,
    updated_at: view.updatedAt,
    next_action: spellNext(view, dialect),
    ...(dialect.steps ? { next_step: view.nextAction } : {}),
  } as Stepped<RunFields, D>;
}

/** A run as the engine shows it. */
export function decodeRun(run: Run): RunView {
  return {
    run: run.run,
    workflow: run.workflow,
    title: run.title,
    target: run.target,
    ...decodeGoal(run),
    params: run.params,
    status: run.status,
    mode: run.mode,
    ring: run.ring,
    ...(run.folder === undefined ? {} : { folder: run.folder }),
    trusted: run.trusted,
    epoch: run.epoch,
    holder: run.holder,
    phase: run.phase,
    current: decodePhase(run),
    completedPhases: run.completed_phases,
    progress: run.progress,
    attempts: run.attempts,
    feedback: run.feedback,
    ...(run.violations === undefined ? {} : { violations: run.violations }),
    ...(run.waits_for === undefined ? {} : { waitsFor: run.waits_for }),
    ...(run.overrides === undefined ? {} : { overrides: run.overrides }),
    ...(run.proven === undefined ? {} : { proven: run.proven }),
    gate: run.gate === null ? null : decodeGate(run.gate),
    questions: run.questions,
    answers: run.answers,
    escalation: run.escalation === null ? null : decodeEscalation(run.escalation),
    reason: run.reason,
    startedAt: run.started_at,
    updatedAt: run.updated_at,
    nextAction: decodeNext(run),
  };
}

/** The run an agent works on, as the engine shows it. */
export function decodeTask({ id, item: _item, ...fields }: Task): RunView {
  return decodeRun({ run: id, ...fields });
}

/** The phase of an answer; null where it has none. */
export function decodePhase(answer: RunFields | PhaseAnswer): PhaseView | null {
  const { phase, phase_number: number } = answer;
  if (phase === null || number === undefined) return null;
  return {
    id: phase,
    number,
    name: answer.phase_name ?? String(phase),
    content: answer.phase_content ?? '',
    artifacts: answer.artifacts_from_previous ?? {},
    requiredEvidence: decodeCriteria(answer.checkpoint_criteria),
    tasks: answer.tasks ?? [],
    dynamic: answer.phase_overview !== undefined,
    sourceId: answer.source_id ?? null,
  };
}

function decodeCriteria(criteria: JsonObject | undefined): JsonObject {
  const required = own(criteria, 'required_evidence');
  return isJsonObject(required) ? required : {};
}

/** One line of the list of runs. */
export function decodeLine(answer: RunLine): RunSummary {
  const { started_at, updated_at, goal: _goal, goal_by: _by, ...line } = answer;
  return { ...line, ...decodeGoal(answer), startedAt: started_at, updatedAt: updated_at };
}

function decodeGate(gate: Gate): GateView {
  const { id, prompt, since, expires_at: expiresAt } = gate;
  const { approvers = [], quorum = 1, votes = [], context = {} } = gate;
  const options = gate.options.map(({ label, requires_input }) => ({ label, requiresInput: requires_input }));
  const excluded = gate.excluded === undefined ? {} : { excluded: gate.excluded };
  return { id, prompt, options, since, expiresAt, approvers, quorum, votes, ...excluded, context };
}

function decodeEscalation(escalation: NonNullable<Run['escalation']>): Escalation {
  const reason = escalation.reason as Escalation['reason'];
  return { ...escalation, reason, blockers: decodeBlockers(escalation.blockers) };
}

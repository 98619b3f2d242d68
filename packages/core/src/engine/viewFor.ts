import { canonicalJson, type Json, type JsonObject } from '../json.ts';
import {
  isPassed,
  type Mode,
  type Phase,
  type PhaseId,
  phaseById,
  type Ring,
  type Workflow,
} from '../model/workflow.ts';
import { nextActionFor } from './blockers.ts';
import { requiredEvidence } from './evidence.ts';
import { gateDueAt } from './expiry.ts';
import { gateContext, visitOf } from './gateContext.ts';
import { type Goal, goalOf } from './goal.ts';
import { over } from './history.ts';
import { openGate } from './openGate.ts';
import { ownWorkers } from './ownWork.ts';
import { feedbackOf, phaseText, type RenderedText, type Told } from './phaseText.ts';
import { type Proven, provenIn } from './proven.ts';
import type { Answer, Escalation, Override, Principal, Question, Run, RunStatus, TreeChange } from './run.ts';
import type { NextAction } from './verdict.ts';
import type { HoldingRun } from './workspaceUse.ts';

/** All a principal may see of a run. Later phases are absent from the value, so no surface can leak them. */
export interface RunView {
  readonly run: string;
  readonly workflow: string;
  readonly title: string;
  readonly target: string | null;
  /** Absent where the run was started without one. */
  readonly goal?: Goal;
  readonly params: JsonObject;
  readonly status: RunStatus;
  readonly mode: Mode;
  readonly ring: Ring;
  /** The git worktree the run works in; absent: the project's own folder. */
  readonly folder?: string;
  readonly trusted: boolean;
  readonly epoch: number;
  readonly holder: string | null;
  readonly phase: PhaseId | null;
  /** The phase of that id as the principal may read it. */
  readonly current: PhaseView | null;
  readonly completedPhases: readonly PhaseId[];
  readonly progress: Progress;
  readonly attempts: number;
  readonly feedback: string | null;
  /** What the fence last refused the phase for; absent where there is nothing. */
  readonly violations?: readonly TreeChange[];
  /** Phases that a human led the run past, oldest first: they are not completed. Absent where there is none. */
  readonly overrides?: readonly OverrideView[];
  /** The run that has the workspace, for which this one waits in the queue; absent where it waits for none. */
  readonly waitsFor?: HoldingRun;
  /** What the engine established by running something, with its class; absent where it ran nothing. */
  readonly proven?: readonly Proven[];
  readonly gate: GateView | null;
  readonly questions: readonly Question[];
  readonly answers: readonly Answer[];
  readonly escalation: Escalation | null;
  /** Why the run was stopped. */
  readonly reason: string | null;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly nextAction: NextAction;
}

/** A phase that a human led the run past. */
export type OverrideView = Omit<Override, 'signature' | 'epoch'>;

/** How far a run is, in phases. */
export interface Progress {
  readonly completed: number;
  readonly current: number | null;
  readonly total: number;
}

/** One phase as an agent sees it. */
export interface PhaseView {
  readonly id: PhaseId;
  readonly number: number;
  readonly name: string;
  readonly content: string;
  /** What the phases before left, by their ids; empty for a phase that is not the current one. */
  readonly artifacts: JsonObject;
  /** What it must be completed with, by name. */
  readonly requiredEvidence: JsonObject;
  readonly tasks: readonly { readonly number: number; readonly name: string }[];
  /** True where the phase comes from a source. */
  readonly dynamic: boolean;
  /** Its id in that source. */
  readonly sourceId: string | null;
}

/** A gate as shown to the one who may see it; the context is for humans only. */
export interface GateView {
  readonly id: string;
  readonly prompt: string;
  readonly options: readonly { readonly label: string; readonly requiresInput: boolean }[];
  readonly since: string;
  readonly expiresAt: string | null;
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly votes: readonly { readonly by: string; readonly option: string }[];
  /** Humans whose yes does not count, as it is their own work; absent where there is none, and for an agent. */
  readonly excluded?: readonly string[];
  /** Values at the gate's context paths and the evidence; empty for an agent. */
  readonly context: JsonObject;
  /** Hash of the card, for the one who may decide by it; the engine has no hash function, so surfaces put it here. */
  readonly shown?: string;
}

/** A phase, or the refusal of a skipped one. */
export type PhaseAnswer =
  | { readonly ok: true; readonly phase: PhaseView }
  | { readonly ok: false; readonly skipped: SkippedPhase };

/** An attempt to reach a phase that is neither current nor completed. */
export interface SkippedPhase {
  readonly message: string;
  /** What the completed phases left: all there is to work with. */
  readonly artifacts: JsonObject;
}

/** Titles of the phases of a workflow. */
export interface WorkflowOverview {
  readonly workflow: string;
  readonly title: string;
  readonly description: string;
  readonly phases: readonly { readonly id: PhaseId; readonly number: number; readonly name: string }[];
}

/** All that principal may see of a run. `rendered` is the current phase's own text, where a function makes it. */
export function viewFor(run: Run, principal: Principal, rendered?: RenderedText): RunView {
  const current = phaseById(run.workflow, run.phase);
  const reader = principal.kind === 'agent' ? principal.name : undefined;
  return {
    run: run.id,
    workflow: run.workflow.id,
    title: run.workflow.title,
    target: run.target,
    ...goalOf(run),
    params: run.params,
    status: run.status,
    mode: run.workflow.enforcement.mode,
    ring: run.ring,
    ...(run.folder === undefined ? {} : { folder: run.folder }),
    trusted: run.trusted,
    epoch: run.epoch,
    holder: run.holder,
    phase: run.phase,
    current: current === undefined ? null : phaseView(run, current, { rendered, reader }),
    completedPhases: completedPhases(run),
    progress: progressOf(run),
    attempts: run.work.attempts,
    feedback: run.phase === null ? null : feedbackOf(run.work),
    ...(run.phase === null || run.work.outside === undefined ? {} : { violations: run.work.outside }),
    ...overridesOf(run),
    ...provenOf(run),
    gate: gateView(run, principal),
    questions: run.status === 'waiting' && run.wait.for === 'questions' ? run.wait.questions : [],
    answers: run.work.answers,
    escalation: run.status === 'escalated' ? run.escalation : null,
    reason: run.status === 'stopped' ? run.reason : null,
    startedAt: run.startedAt,
    updatedAt: run.updatedAt,
    nextAction: nextActionFor(run, principal.kind === 'agent' ? principal.name : run.holder),
  };
}

function provenOf(run: Run): Pick<RunView, 'proven'> {
  const proven = provenIn(run);
  return proven.length === 0 ? {} : { proven };
}

/** The current phase and completed ones, and no other. */
export function canAccessPhase(run: Run, id: PhaseId): boolean {
  return id === run.phase || leftPhases(run).has(id);
}

/**
 * The phase someone asked for by id, number or name; numbers may arrive as text or floats. Null when none is meant.
 * An exact id wins over a number, a number over a name.
 */
export function findPhase(workflow: Workflow, requested: Json): Phase | null {
  if (typeof requested !== 'string' && typeof requested !== 'number') return null;
  const text = typeof requested === 'string' ? requested.trim() : requested;
  const number = typeof text === 'number' ? text : text === '' ? Number.NaN : Number(text);
  const byId = workflow.phases.find((phase) => phase.id === text || phase.id === number);
  if (byId) return byId;
  const byNumber = workflow.phases.find((phase) => phase.number === number);
  return byNumber ?? workflow.phases.find((phase) => phase.name === text) ?? null;
}

/** The phase as an agent may read it, or that it was skipped. */
export function phaseAnswer(run: Run, requested: Json | undefined, rendered?: RenderedText): PhaseAnswer {
  const phase =
    requested === undefined
      ? (phaseById(run.workflow, run.phase) ?? null)
      : findPhase(run.workflow, requested);
  if (phase === null || !canAccessPhase(run, phase.id)) {
    return { ok: false, skipped: skippedPhase(run, requested ?? null) };
  }
  return {
    ok: true,
    phase: phaseView(run, phase, { rendered: phase.id === run.phase ? rendered : undefined }),
  };
}

/** An attempt to reach a phase that is neither current nor completed, and nothing of that phase. */
export function skippedPhase(run: Run, requested: Json): SkippedPhase {
  const asked =
    typeof requested === 'string' || typeof requested === 'number' ? requested : canonicalJson(requested);
  return { message: `Cannot access Phase ${asked}`, artifacts: artifactsOf(run) };
}

/** How far a run is. A phase counts as completed when it was completed once and is not the current one. */
export function progressOf(run: Run): Progress {
  const current = phaseById(run.workflow, run.phase);
  return {
    completed: completedPhases(run).length,
    current: current?.number ?? null,
    total: run.workflow.phases.length,
  };
}

/** Completed at least once and not current, in the order first completed. */
export function completedPhases(run: Run): readonly PhaseId[] {
  return [...passedPhases(run)].filter((id) => id !== run.phase);
}

const passedPhases = over<Set<PhaseId>>({
  begin: (like) => new Set(like),
  add(passed, { phase, outcome }) {
    // What a human rejected was handed in, and passed nothing; what was overridden was not even that.
    if (isPassed(outcome)) passed.add(phase);
  },
});

const leftPhases = over<Set<PhaseId>>({
  begin: (like) => new Set(like),
  add: (left, { phase }) => void left.add(phase),
});

/** The newest completion of each phase of the workflow, by the phase's id as text. */
const newestCompletions = over<Map<string, Run['completions'][number]>>({
  begin: (like) => new Map(like),
  add(newest, completion, run) {
    if (phaseById(run.workflow, completion.phase) !== undefined)
      newest.set(String(completion.phase), completion);
  },
});

/** Outputs of every completed phase by its number; the newest visit counts. */
export function artifactsOf(run: Run): JsonObject {
  // Made of entries, so that a phase called `__proto__` is one. Nothing is looked at that a later visit replaced: a store may
  // have to read it.
  return Object.fromEntries(
    [...newestCompletions(run)].map(([phase, { evidence, word }]) => [
      phase,
      word === undefined ? evidence : { ...evidence, ...word },
    ]),
  );
}

/** Titles of all phases, for the one who starts a run: the one place that names later phases, and nothing but names. */
export function overviewOf({ id, title, description, phases }: Workflow): WorkflowOverview {
  return {
    workflow: id,
    title,
    description,
    phases: phases.map((phase) => ({ id: phase.id, number: phase.number, name: phase.name })),
  };
}

function phaseView(run: Run, phase: Phase, told: Omit<Told, 'work'>): PhaseView {
  const current = phase.id === run.phase;
  return {
    id: phase.id,
    number: phase.number,
    name: phase.name,
    content: phaseText(run.workflow, phase, { ...told, work: current ? run.work : null }),
    artifacts: current ? artifactsOf(run) : {},
    requiredEvidence: requiredEvidence(phase),
    tasks: phase.tasks.map((task, index) => ({ number: index + 1, name: task.name })),
    dynamic: isDynamic(phase),
    sourceId: phase.sourceId,
  };
}

/** True for a phase that was made from a source when the run started. */
export function isDynamic(phase: Phase): boolean {
  return phase.content?.kind === 'template';
}

/** An agent that completed the phase is no human to exclude, unless there is one of its name. */
function excludedAt(run: Run, open: Parameters<typeof ownWorkers>[1]): Pick<GateView, 'excluded'> {
  const excluded = ownWorkers(run, open).filter(({ why }) => why !== 'completed the phase');
  return excluded.length === 0 ? {} : { excluded: excluded.map(({ name }) => name) };
}

/** Everyone is told, and nobody needs the signature to be. */
function overridesOf({ overrides = [] }: Run): Pick<RunView, 'overrides'> {
  if (overrides.length === 0) return {};
  return { overrides: overrides.map(({ phase, to, reason, by, at }) => ({ phase, to, reason, by, at })) };
}

function gateView(run: Run, principal: Principal): GateView | null {
  const open = openGate(run);
  if (open === null) return null;
  const { wait, gate, phase } = open;
  return {
    id: wait.gate,
    prompt: gate.prompt,
    options: gate.options.map(({ label, requiresInput }) => ({ label, requiresInput })),
    since: wait.since,
    expiresAt: gateDueAt(run),
    approvers: gate.approvers,
    quorum: gate.quorum,
    votes: wait.votes.map((vote) => ({ by: vote.by, option: vote.option })),
    ...(principal.kind === 'human' ? excludedAt(run, open) : {}),
    context: principal.kind === 'human' ? { ...gateContext(run, gate, visitOf(phase, wait)) } : {},
  };
}

import { canonicalJson, type Json, type JsonObject } from '../json.ts';
import { type HumanGate, type Phase, phaseById, type Target } from '../model/workflow.ts';
import { databaseOf } from './databaseHash.ts';
import { Asking } from './deciding.ts';
import { contextValues, gateContext, visitOf } from './gateContext.ts';
import { diffSections, type GateDiff } from './gateDiff.ts';
import { meaningOf } from './gateMeaning.ts';
import { type WorkFacts, workSections } from './gateWork.ts';
import { openGate } from './openGate.ts';
import { ownWorkers } from './ownWork.ts';
import { provenIn } from './proven.ts';
import { routeFrom } from './route.ts';
import type { GateWait, Run, TreeChange } from './run.ts';
import { approvedValues } from './values.ts';

/**
 * What bears on a decision and is not in the run itself: anyone who shows a card looks it up. All of it lies before the
 * gate's opening and so cannot change while the gate is open; that is why it may be part of what is hashed.
 */
export interface GateCardFacts {
  /** What permissive mode let through in this run, item by item. */
  readonly letThrough: readonly LetThrough[];
  /** Runs on the same target that were stopped before this gate opened, newest first. */
  readonly stoppedBefore: readonly StoppedRun[];
  /** When each item of a parallel phase was judged, oldest first; the newest of a key counts. */
  readonly itemsJudged?: readonly JudgedItem[];
  /** What was done with tools, and what was refused. */
  readonly work?: WorkFacts;
  /** What the phase changed until its gate opened; absent where there is no fence. */
  readonly diff?: GateDiff;
  /**
   * What of the workspace is not as it was when the gate opened, each with a hash of what stands there now. It may
   * change while the gate is open, and a decision on the card from before is then one on what is gone.
   */
  readonly movedSince?: readonly (TreeChange & { readonly content: string | null })[];
}

/** An item's postconditions are looked at when it is handed in, which may be long before the gate opens. */
export interface JudgedItem {
  readonly phase: string | number;
  readonly item: string;
  readonly at: string;
}

/** Something that would have been refused in strict mode. */
export interface LetThrough {
  readonly phase: string | number;
  readonly item?: string;
  readonly code: string;
  readonly message: string;
}

/** A run that a human, or a gate's time, ended. */
export interface StoppedRun {
  readonly run: string;
  readonly workflow: string;
  readonly phase: string | number;
  readonly reason: string;
  readonly at: string;
}

const NOTHING: GateCardFacts = { letThrough: [], stoppedBefore: [] };

/**
 * What a human is shown at a gate; the hash of its canonical JSON binds the decision to it. That hash is signed, so the
 * card keeps the spelling it has, unlike other values of the engine (ADR 26).
 */
export function gateCard(run: Run, facts: GateCardFacts = NOTHING): JsonObject | null {
  const open = openGate(run);
  if (open === null) return null;
  const { wait, gate, phase } = open;
  const { workflow } = run;
  const visit = visitOf(phase, wait);
  const through = [...facts.letThrough, ...wait.wouldRefuse.map((found) => ({ phase: phase.id, ...found }))];
  return {
    run: run.id,
    workflow: workflow.id,
    workflow_hash: run.workflowHash,
    mode: workflow.enforcement.mode,
    trusted: run.trusted,
    ring: run.ring,
    ...(run.folder === undefined ? {} : { folder: run.folder }),
    ...(workflow.source === undefined ? {} : { source: { ...workflow.source } }),
    started: { by: starter(run), at: run.startedAt },
    target: run.target,
    ...(run.goal === undefined ? {} : { goal: { text: run.goal, by: starter(run) } }),
    ...section('params', changedParams(run)),
    ...section(
      'path',
      run.completions.map(({ phase, outcome, by, at }) => ({ phase, outcome, by, at })),
    ),
    ...section('decisions', decisionsBefore(run, wait)),
    ...section(
      'stopped_before',
      facts.stoppedBefore.map((stopped) => ({ ...stopped })),
    ),
    gate: wait.gate,
    phase: phase.id,
    epoch: run.epoch,
    opened_at: wait.since,
    ...section('checks', checksOf(run, phase, wait)),
    ...section(
      'proven',
      provenIn(run).map((one) => ({ ...one })),
    ),
    ...section('items_looked_at', itemsLookedAt(run, phase, facts)),
    ...(facts.work === undefined ? {} : workSections(facts.work)),
    ...(facts.diff === undefined ? {} : diffSections(facts.diff)),
    prompt: gate.prompt,
    context: gateContext(run, gate, visit),
    covered: contextValues(run, gate, visit),
    evidence: wait.evidence,
    ...(wait.word === undefined ? {} : { word: wait.word }),
    ...(wait.outcomes === undefined ? {} : { outcomes: { ...wait.outcomes } }),
    ...(Object.keys(wait.state).length === 0 ? {} : { state: wait.state }),
    ...databaseOf(wait),
    submitted_by: wait.by,
    outcome: wait.outcome,
    ...section('would_refuse', distinct(through.map(letThrough))),
    ...section('warnings', distinct(warningsOf(run, wait, phase))),
    ...section(
      'fence',
      (run.fenced ?? []).map((act) => ({ ...act })),
    ),
    ...section(
      'changed_since',
      (facts.movedSince ?? []).map((change) => ({ ...change })),
    ),
    ...section(
      'overrides',
      (run.overrides ?? []).map(({ phase, to, reason, by, at }) => ({ phase, to, reason, by, at })),
    ),
    ...section('approved', approvedBefore(run)),
    ...(gate.approvers.length === 0 ? {} : { approvers: gate.approvers }),
    ...(gate.quorum === 1 ? {} : { quorum: gate.quorum }),
    ...section('own_work', ownWork(run, open)),
    options: gate.options.map((option) => ({
      label: option.label,
      requires_input: option.requiresInput,
      leads_to: optionTarget(option),
      approves: approves(run, phase, option),
      way: wayOf(run, phase, option),
    })),
  };
}

/** What choosing an option means; null where only a function of the author's can tell. */
function approves(run: Run, phase: Phase, option: HumanGate['options'][number]): boolean | null {
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return null;
  const asking = askingNobody(run.wait.since);
  const meaning = meaningOf(run, { wait: run.wait, phase, option }, asking);
  return asking.missing.length > 0 || typeof meaning !== 'string' ? null : meaning === 'approves';
}

/** A card is made without looking at anything. */
function askingNobody(now: string): Asking {
  return new Asking({ principal: { kind: 'engine', name: 'phasegate' }, now, facts: {} });
}

/** Nothing is written where there is nothing to tell. */
function section(name: string, value: readonly Json[] | JsonObject): JsonObject {
  return (Array.isArray(value) ? value.length : Object.keys(value).length) === 0 ? {} : { [name]: value };
}

function starter({ by }: Run): string {
  return by === undefined ? 'unknown' : `${by.kind} ${by.name}`;
}

/** Only what differs from its default: that is what somebody chose. */
function changedParams(run: Run): JsonObject {
  const changed = Object.entries(run.params).filter(([name, value]) => {
    const preset = run.workflow.params[name]?.default;
    return preset === undefined || canonicalJson(preset) !== canonicalJson(value);
  });
  return Object.fromEntries(
    changed.map(([name, value]) => {
      const preset = run.workflow.params[name]?.default;
      return [name, { value, ...(preset === undefined ? {} : { default: preset }), set_by: starter(run) }];
    }),
  );
}

/** Votes at the open gate are not part of the card: the first must not make the second one's card another. */
function decisionsBefore(run: Run, wait: GateWait): readonly JsonObject[] {
  return run.decisions
    .filter(({ gate }) => gate !== wait.gate)
    .map(({ gate, option, by, at }) => ({ gate, option, by, at }));
}

/** What humans approved so far, by name: what this work is measured against. */
function approvedBefore(run: Run): JsonObject {
  const values = Object.entries(approvedValues(run));
  return Object.fromEntries(values.map(([name, value]) => [name, shortened(value)]));
}

/** What is long was on the card on which it was approved, whole. */
function shortened(value: Json): Json {
  const text = canonicalJson(value);
  if (text.length <= LONGEST_APPROVED) return value;
  return `${text.slice(0, LONGEST_APPROVED)} … (${text.length} characters)`;
}

const LONGEST_APPROVED = 2_000;

/** Whose yes does not count here; the agent that handed it in is on the card as that. */
function ownWork(run: Run, open: Parameters<typeof ownWorkers>[1]): readonly JsonObject[] {
  const own = ownWorkers(run, open).filter(({ why }) => why !== 'completed the phase');
  return own.map(({ name, why }) => ({ name, why }));
}

/** A phase's checks are looked at when its gate opens; those of items when each of them was handed in. */
function checksOf({ work }: Run, phase: Phase, { since, outcome }: GateWait): readonly JsonObject[] {
  const judged = outcome === 'skip' ? [] : phase.postconditions;
  const when = work.items === null ? { looked_at: since } : { looked_at: 'with each item' };
  return [
    ...judged.map((check) => ({ ...askedBy(check), ...when })),
    ...phase.blockers.map((check) => ({ ...askedBy(check), looked_at: since })),
  ];
}

/** A check that is looked at again looks at the world, also where its author did not say what it needs. */
function askedBy({ label, needs, recheck, severity }: Phase['blockers'][number]): JsonObject {
  const looks = needs === 'claimed' && recheck === true ? { looks: true } : {};
  // It may not have held: that it is on the card says only that it was looked at.
  const warns = severity === 'warning' ? { warns: true } : {};
  return { check: label, needs, ...looks, ...warns };
}

function itemsLookedAt({ work }: Run, phase: Phase, { itemsJudged = [] }: GateCardFacts): JsonObject {
  if (phase.postconditions.length === 0) return {};
  const items = work.items ?? {};
  const judged = itemsJudged.filter((one) => one.phase === phase.id && Object.hasOwn(items, one.item));
  return Object.fromEntries(judged.map(({ item, at }) => [item, at]));
}

function letThrough({ phase, item, code, message }: LetThrough): JsonObject {
  return { phase, ...(item === undefined ? {} : { item }), code, message };
}

/** What did not hold and does not block, of every phase so far. */
function warningsOf(run: Run, wait: GateWait, here: Phase): readonly JsonObject[] {
  const told = (phase: string | number, { warnings = [] }: Pick<GateWait, 'warnings'>) =>
    warnings.map(({ code, message }) => ({ phase, code, message }));
  return [...run.completions.flatMap((one) => told(one.phase, one)), ...told(here.id, wait)];
}

function distinct(told: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(told.map((one) => [canonicalJson(one), one])).values()];
}

function optionTarget(option: HumanGate['options'][number]): string | number {
  if (option.next === undefined) return 'next';
  return option.next === null ? 'stop' : option.next;
}

/** Where an option leads, in words. */
function wayOf(run: Run, phase: Phase, { next }: HumanGate['options'][number]): string {
  if (next === null) return 'the run is stopped';
  if (next !== undefined) return placeOf(run, next);
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return "the phase's own way";
  const { evidence, outcome, state, since } = run.wait;
  const asking = askingNobody(since);
  // By the route itself: a loop that is exhausted or a list that is empty leads elsewhere than what is written first.
  const worked: Run = { ...run, state: { ...run.state, ...state } };
  const routed = routeFrom(worked, { phase, evidence, outcome }, asking);
  switch (routed.kind) {
    case 'to':
      return placeOf(run, routed.target);
    case 'exhausted':
      return `no further: ${routed.message}`;
    case 'asking':
      return eitherWay(run, phase);
    default:
      return "the phase's own way, which cannot be told";
  }
}

/** Only a function of the author's can say which. */
function eitherWay(run: Run, { next }: Phase): string {
  if (next.kind !== 'when') return "the phase's own way";
  const [yes, no] = [placeOf(run, next.onTrue), placeOf(run, next.onFalse)];
  return `the phase's own way: ${yes} if \`${next.condition.source}\`, else ${no}`;
}

function placeOf({ workflow }: Run, target: Target): string {
  const phase = phaseById(workflow, target);
  if (phase === undefined) return 'the end of the run';
  return phase.name === String(phase.id) ? `phase \`${phase.id}\`` : `phase \`${phase.id}\` (${phase.name})`;
}

import type { GateOption, HumanGate, Outcome, Phase, Target } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { blocker, completeAction } from './blockers.ts';
import type { Asking } from './deciding.ts';
import { contextValues, type Visit } from './gateContext.ts';
import { meaningOf } from './gateMeaning.ts';
import { routeFrom } from './route.ts';
import { type GateWait, type Run, resultOf, type SettledGate } from './run.ts';
import { cross, type Leaving } from './transition.ts';
import type { Blocker } from './verdict.ts';

/**
 * Why a gate would open that nobody can pass: every yes would be refused by what evidence alone decides, evidence does
 * not change while a gate is open, and nothing leads to another phase. Empty where some choice would do, as far as that
 * can be told before it is made.
 */
export function shutWays(
  run: Run,
  { wait, phase, visit }: { readonly wait: GateWait; readonly phase: Phase; readonly visit: Visit },
  asking: Asking,
): readonly Blocker[] {
  const { humanGate, next } = phase;
  if (humanGate === null || run.workflow.enforcement.mode === 'permissive') return [];
  // What a function answers, and how often, is its author's business.
  if (next.kind === 'when' && next.condition.kind === 'function') return [];
  const waiting: Run = { ...run, status: 'waiting', phase: phase.id, wait };
  const ways = humanGate.options.flatMap((option) => {
    const meaning = meaningOf(waiting, { wait, phase, option }, asking);
    // Work that is sent to another phase may come back fixed, where what refuses it was not made here.
    if (meaning === 'rejects') return option.next == null || option.next === phase.id ? [] : [[]];
    if (typeof meaning !== 'string') return [[{ ...meaning, nextAction: completeAction(phase) }]];
    const approves = meaning === 'approves';
    return [blockersOn(waiting, { wait, phase, visit, gate: humanGate, option, approves }, asking)];
  });
  return ways.length === 0 || ways.some((blockers) => blockers.length === 0) ? [] : [...unique(ways.flat())];
}

/** What refuses one choice, on the run as it would be after it. */
function blockersOn(
  waiting: Run,
  at: {
    readonly wait: GateWait;
    readonly phase: Phase;
    readonly visit: Visit;
    readonly gate: HumanGate;
    readonly option: GateOption;
    readonly approves: boolean;
  },
  asking: Asking,
): readonly Blocker[] {
  const { wait, phase, visit, gate, option, approves } = at;
  const { since: now, by } = wait;
  const settles: SettledGate = {
    gate: gate.id,
    phase: phase.id,
    option: option.label,
    input: null,
    approves,
  };
  const decision = {
    gate: wait.gate,
    option: option.label,
    input: null,
    shown: '',
    by,
    at: now,
    signature: '',
  };
  const run = apply(waiting, { at: now, type: 'gate_decided', decision, final: true, settles });
  const target = targetOf(run, { wait, phase, option }, asking);
  if (target === undefined) return [];
  if (typeof target === 'object' && target !== null) return [target];
  const leaving: Leaving = {
    phase,
    ...resultOf(wait),
    outcome: wait.outcome,
    state: wait.state,
    by,
    now,
    wouldRefuse: [],
    ...(approves ? { approved: contextValues(run, gate, visit) } : {}),
  };
  const way = { target, iterated: false, asking, permissive: false, ahead: option.label };
  const crossing = cross(run, leaving, way);
  return crossing.ok ? [] : crossing.blockers;
}

/** Where a choice leads; undefined where that is not a refusal of it. */
function targetOf(
  run: Run,
  { wait, phase, option }: { readonly wait: GateWait; readonly phase: Phase; readonly option: GateOption },
  asking: Asking,
): Target | undefined | Blocker {
  if (option.next !== undefined) return option.next;
  const worked: Run = { ...run, state: { ...run.state, ...wait.state } };
  const judged = { phase, evidence: wait.evidence, outcome: wait.outcome as Outcome };
  const routed = routeFrom(worked, judged, asking);
  if (routed.kind === 'to') return routed.target;
  if (routed.kind !== 'unanswerable') return undefined;
  return blocker(
    'condition_unanswerable',
    `the way on cannot be told: ${routed.reason}`,
    completeAction(phase),
  );
}

function unique(blockers: readonly Blocker[]): Iterable<Blocker> {
  return new Map(blockers.map((one) => [`${one.code} ${one.message}`, one])).values();
}

import type { Circumstance, Command, Fact, Facts, GateWait, Look, Run } from '@phasegate/core/engine';
import { type Decision, decide, decideOrLook } from '@phasegate/core/engine';
import type { HumanGate, Outcome } from '@phasegate/core/model';
import type { Abstraction } from '../check/abstractWorkflow.ts';
import { answersTo } from '../check/answers.ts';
import { AGENT, NOW } from '../check/moves.ts';
import { byShare, type Random } from './random.ts';
import type { SettledPhase } from './rates.ts';

/** What a play is made from. */
export interface Playing {
  readonly abstraction: Abstraction;
  readonly rates: SettledPhase;
  readonly random: Random;
}

const LATER = '2999-01-01T00:00:00.000Z';

/** One attempt at the current phase, or at an item of it, decided by the engine. */
export function attempt(
  run: Run & { readonly status: 'active' },
  item: string | null,
  playing: Playing,
): Decision {
  const { rates, random } = playing;
  const by: Circumstance = { principal: AGENT, now: NOW, facts: {} };
  if (rates.blocked > 0 && random() < rates.blocked) {
    return decide(run, { kind: 'report_blocked', reason: 'blocked' }, by);
  }
  const ofItem = item === null ? 0 : (run.work.items?.[item]?.attempts ?? 0);
  // A join that was refused is an attempt at every item of it.
  const tries = Math.max(run.work.attempts, ofItem);
  const passes = random() < (rates.pass[Math.min(tries, rates.pass.length - 1)] ?? 1);
  const others = Object.entries(run.work.items ?? {}).filter(([key]) => key !== item);
  // What comes of a phase with items is said once, with the last of them.
  const last = others.every(([, { status }]) => status === 'completed');
  const outcome = last ? (byShare(rates.outcomes, random) ?? 'ok') : 'ok';
  const wanted: Wanted = { passes, outcome, condition: random() < rates.condition };
  const handled = run.workflow.phases.find(({ id }) => id === run.phase)?.work.kind === 'handler';
  const reported = passes && !handled ? outcome : 'ok';
  const command: Command = {
    kind: 'complete',
    phase: run.phase,
    evidence: {},
    ...(item === null ? {} : { item }),
    ...(reported === 'ok' ? {} : { outcome: reported }),
    ...(reported === 'fail' ? { reason: 'it failed' } : {}),
  };
  const { decision, failed } = decideWith(run, command, { by, wanted, playing });
  if (passes || failed) return decision;
  // Nothing is asked here that could fail, so it is the work itself that did.
  const failure = { kind: 'report_failure' as const, phase: run.phase, reason: 'it failed' };
  return decide(run, item === null ? failure : { ...failure, item }, by);
}

/** A human's choice at the gate a run waits at; as many agree as are needed. */
export function choose(
  run: Run,
  at: { readonly gate: HumanGate; readonly wait: GateWait; readonly option: string },
  playing: Playing,
): Decision {
  const { gate, wait, option } = at;
  const command: Command = {
    kind: 'decide',
    gate: wait.gate,
    option,
    input: 'yes',
    shown: '',
    signature: '',
  };
  let voted = run;
  for (let vote = 1; vote < gate.quorum; vote++) {
    voted = decide(voted, command, human(gate.approvers[vote - 1] ?? `human ${vote}`)).run;
  }
  const by = human(gate.approvers[gate.quorum - 1] ?? 'human');
  const wanted: Wanted = {
    passes: true,
    outcome: wait.outcome,
    condition: playing.random() < playing.rates.condition,
  };
  const { decision } = decideWith(voted, command, { by, wanted, playing });
  // Where the last vote changes nothing, the others were not cast either: they would be in the way of the next choice.
  return decision.events.length > 0 ? decision : { ...decision, run };
}

/** The gate's time is up. */
export function expire(run: Run): Decision {
  const principal = { kind: 'engine', name: 'phasegate' } as const;
  return decide(run, { kind: 'expire' }, { principal, now: LATER, facts: {} });
}

/** A human gives an escalated run back, or ends it. */
export function intervene(run: Run, what: 'resume' | 'stop'): Decision {
  const command: Command =
    what === 'resume' ? { kind: 'resume' } : { kind: 'stop', reason: 'it is of no use' };
  return decide(run, command, human('human'));
}

interface Wanted {
  readonly passes: boolean;
  readonly outcome: Outcome;
  readonly condition: boolean;
}

/** Answers what the engine asks as was drawn, as far as that is among the answers there can be at all. */
function decideWith(
  run: Run,
  command: Command,
  { by, wanted, playing }: { readonly by: Circumstance; readonly wanted: Wanted; readonly playing: Playing },
): { readonly decision: Decision; readonly failed: boolean } {
  let facts: Facts = {};
  let failed = false;
  for (;;) {
    const considered = decideOrLook(run, command, { ...by, facts });
    if (!('looks' in considered)) return { decision: considered, failed };
    const { looks } = considered;
    const answered = closest(looks, run, { wanted, playing });
    failed ||= looks.some(({ id, kind }) => judgesWork(id, kind) && isFailure(answered[id]));
    facts = { ...facts, ...answered };
  }
}

function closest(
  looks: readonly Look[],
  run: Run,
  { wanted, playing }: { readonly wanted: Wanted; readonly playing: Playing },
): Facts {
  let best: Facts = {};
  let most = -1;
  for (const { facts } of answersTo(looks, {
    run,
    abstraction: playing.abstraction,
    remembered: () => undefined,
  })) {
    const like = looks.filter(({ id }) => agrees(id, facts[id], wanted)).length;
    if (like <= most) continue;
    best = facts;
    most = like;
  }
  return best;
}

function agrees(id: string, fact: Fact | undefined, { passes, outcome, condition }: Wanted): boolean {
  switch (fact?.kind) {
    case 'check':
      return (fact.result.status === 'passed') === (passes || !judgesWork(id, 'check'));
    case 'handler':
      return fact.result.ok ? passes && fact.result.outcome === outcome : !passes;
    case 'condition':
      return fact.result.ok && fact.result.value === condition;
    default:
      return false;
  }
}

/** What is asked before a phase is entered says nothing about the work on the one before. */
function judgesWork(id: string, kind: Look['kind']): boolean {
  return kind === 'handler' || (kind === 'check' && !id.startsWith('enter:'));
}

function isFailure(fact: Fact | undefined): boolean {
  if (fact?.kind === 'check') return fact.result.status !== 'passed';
  return fact?.kind === 'handler' && !fact.result.ok;
}

function human(name: string): Circumstance {
  return { principal: { kind: 'human', name }, now: NOW, facts: {}, shown: '' };
}

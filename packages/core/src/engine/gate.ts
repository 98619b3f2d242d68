import type { JsonObject } from '../json.ts';
import { didYouMean } from '../model/suggest.ts';
import type { Check, GateOption, HumanGate, Phase } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { ALLOWED, blocker, humanActionFor, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { doneAnew, needsMovedDatabase } from './databaseMoved.ts';
import { Asking, type Considered, turnAway } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { considerExpiry } from './expiry.ts';
import { fenceOf } from './fence.ts';
import { contextValues, visitOf } from './gateContext.ts';
import { AT_THE_GATE, meaningOf } from './gateMeaning.ts';
import { isSameName, keyMaker } from './keyMaker.ts';
import { followRoute, passed } from './leaving.ts';
import { openGate } from './openGate.ts';
import { ownWorkProblem } from './ownWork.ts';
import { type GateDecision, type GateWait, type Run, resultOf, type SettledGate } from './run.ts';
import type { Judged } from './scope.ts';
import { checkBlockers, cross, type Leaving } from './transition.ts';
import type { Blocker, NextAction } from './verdict.ts';

type Decide = Extract<Command, { kind: 'decide' }>;

/** A human's choice at an open gate. */
export function considerDecide(run: Run, command: Decide, circumstance: Circumstance): Considered {
  const open = openGate(run);
  // INVARIANT: only a human's command produces `gate_decided`. The principal is bound where it authenticated,
  // so checking it here covers every surface, including ones not written yet.
  if (circumstance.principal.kind !== 'human') {
    return turnAway([blocker('not_a_human', 'only a human may decide at a gate', nextActionFor(run))]);
  }
  if (open === null)
    return turnAway([blocker('run_not_waiting', `run \`${run.id}\` waits at no gate`, humanActionFor(run))]);
  const late = considerExpiry(run, circumstance);
  if (late !== null) return late;
  const wrong = decisionProblem(run, open, { command, circumstance });
  if (wrong !== null) return turnAway([wrong]);

  const { wait, gate, phase } = open;
  const decision: GateDecision = {
    gate: wait.gate,
    option: command.option,
    input: command.input ?? null,
    shown: command.shown,
    by: circumstance.principal.name,
    at: circumstance.now,
    signature: command.signature,
  };
  const agreeing = [...agreeingVotes(wait, command).map(({ by }) => by), circumstance.principal.name];
  const final = new Set(agreeing.map((name) => keyMaker(name, command.madeBy))).size >= gate.quorum;
  const decided: RunEvent & { type: 'gate_decided' } = {
    at: circumstance.now,
    type: 'gate_decided',
    decision,
    final,
  };
  if (!final) return { verdict: ALLOWED, events: [decided] };
  const option = gate.options.find(({ label }) => label === command.option) as GateOption;
  const asking = new Asking(circumstance);
  const meaning = meaningOf(run, { wait, phase, option }, asking);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (typeof meaning !== 'string') return turnAway([meaning]);
  const moved = meaning === 'approves' ? recheckBlockers(run, { wait, phase }, asking) : [];
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (moved.length > 0 && run.workflow.enforcement.mode !== 'permissive') return turnAway(moved);
  const outside = option.next === null ? [] : fencedAtGate(run, phase, asking);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (outside.length > 0 && run.workflow.enforcement.mode !== 'permissive') return turnAway(outside);
  const settles: SettledGate = {
    gate: gate.id,
    phase: phase.id,
    option: option.label,
    input: decision.input,
    approves: meaning === 'approves',
  };
  const settled: RunEvent = { ...decided, settles };
  // What is approved is what the card showed, which cannot have known this decision.
  const visit = { ...visitOf(phase, wait), ...(moved.length === 0 ? {} : { letThrough: true as const }) };
  const approved = meaning === 'approves' ? contextValues(run, gate, visit) : null;
  const leaving = { wait, phase, option, approved, rejected: meaning === 'rejects', moved };
  const onward = leaveGate(apply(run, settled), leaving, circumstance);
  if ('looks' in onward || !onward.verdict.allowed) return onward;
  if (needsMovedDatabase(onward.events, circumstance)) return doneAnew(run, wait, circumstance.now);
  return { verdict: onward.verdict, events: [settled, ...onward.events] };
}

/** What was observed or verified when the gate opened is looked at again: it must be true when it counts. */
function recheckBlockers(
  run: Run,
  { wait, phase }: { readonly wait: GateWait; readonly phase: Phase },
  asking: Asking,
): readonly Blocker[] {
  const worked: Run = { ...run, state: { ...run.state, ...wait.state } };
  const again = ({ recheck }: Check) => recheck === true;
  const look = (judged: Judged, checks: readonly Check[], stage: string) =>
    checkBlockers(worked, { judged, checks: checks.filter(again), asking, stage });
  const items = Object.entries(run.work.items ?? {});
  const postconditions = wait.outcome === 'skip' ? [] : phase.postconditions;
  const found = [
    ...(run.work.items === null ? look({ phase, evidence: wait.evidence }, postconditions, 'again') : []),
    ...items.flatMap(([key, item]) => {
      if (item.outcome === 'skip' || item.evidence === null) return [];
      return look({ phase, evidence: item.evidence, item }, postconditions, `again:${key}`);
    }),
    ...look({ phase, evidence: wait.evidence }, phase.blockers, 'again'),
  ];
  return found.map((one) => ({
    ...one,
    message: `looked at again before the yes, this no longer holds: ${one.message}`,
    nextAction: AT_THE_GATE,
  }));
}

/** Whatever is chosen, the next phase must not begin with what was changed outside the scope while nobody looked. */
function fencedAtGate(run: Run, phase: Phase, asking: Asking): readonly Blocker[] {
  const text = `settle it with \`phasegate fence ${run.id}\`, look again and decide`;
  return fenceOf(run, phase, asking).blockers.map((found) => ({
    ...found,
    nextAction: { act: 'wait_for_human', text },
  }));
}

function decisionProblem(
  run: Run,
  open: { readonly wait: GateWait; readonly gate: HumanGate; readonly phase: Phase },
  { command, circumstance }: { readonly command: Decide; readonly circumstance: Circumstance },
): Blocker | null {
  const { wait, gate } = open;
  const { principal, shown } = circumstance;
  const option = gate.options.find((candidate) => candidate.label === command.option);
  if (command.gate !== wait.gate) {
    return blocker('gate_unknown', `gate \`${command.gate}\` is not open; \`${wait.gate}\` is`, AT_THE_GATE);
  }
  if (gate.approvers.length > 0 && !gate.approvers.includes(principal.name)) {
    return blocker(
      'not_an_approver',
      `\`${principal.name}\` may not decide here; ${gate.approvers.join(', ')} may`,
      wayPastAbsent(run, gate, circumstance),
    );
  }
  if (option === undefined) {
    const labels = gate.options.map(({ label }) => label);
    const quoted = labels.map((label) => `\`${label}\``);
    return blocker(
      'option_unknown',
      `there is no option \`${command.option}\`${didYouMean(command.option, labels)}; choose ${quoted.join(', ')}`,
      { act: 'wait_for_human', text: `decide again with ${quoted.join(' or ')}` },
    );
  }
  if (option.requiresInput && (command.input ?? '').trim() === '') {
    return blocker('input_required', `option \`${option.label}\` needs a text from the human`, {
      act: 'wait_for_human',
      text: `decide again with \`${option.label}\` and what the agent should know`,
    });
  }
  if (shown === undefined || command.shown !== shown) {
    return blocker(
      'shown_changed',
      'what was shown is not what stands there now; look again and decide',
      AT_THE_GATE,
    );
  }
  const { madeBy } = command;
  const { name } = principal;
  const own = ownWorkProblem(run, open, { name, option, ...(madeBy === undefined ? {} : { madeBy }) });
  if (own !== null) return own;
  if (countedVotes(wait, command).some((vote) => isSameName(vote.by, name))) {
    return blocker('already_voted', `\`${name}\` has decided here already`, AT_THE_GATE);
  }
  const behind = keyMaker(name, madeBy);
  const same = agreeingVotes(wait, command).find((vote) => keyMaker(vote.by, madeBy) === behind);
  if (same === undefined) return null;
  const message = `\`${same.by}\` has decided here already, and since the run began \`${behind}\` made a key for one of you: \`${same.by}\` and \`${name}\` count as one here`;
  return blocker('already_voted', message, AT_THE_GATE);
}

/** Where those who may decide have left, waiting for them leads nowhere: what the humans who are there can do. */
function wayPastAbsent(run: Run, gate: HumanGate, { humans }: Circumstance): NextAction {
  const absent = gate.approvers.filter((name) => humans?.includes(name) === false);
  if (absent.length === 0 || gate.approvers.length - absent.length >= gate.quorum) return AT_THE_GATE;
  const [who, they] = absent.length === 1 ? [absent[0], 'is'] : [absent.join(', '), 'are'];
  const text = `${who} ${they} not set up in this project: add them with \`phasegate humans add NAME\`, or a human ends this with \`phasegate stop ${run.id} --reason TEXT\` or breaks the glass with \`phasegate override ${run.id} --reason TEXT\``;
  return { act: 'wait_for_human', text };
}

/**
 * The vote of somebody who was removed since fills no quorum, and neither does one for a card that showed something else:
 * those who agree must have seen the same. Anyone whose vote counts no more votes again.
 */
function countedVotes(wait: GateWait, { voided = [], shown }: Decide): readonly GateDecision[] {
  return wait.votes.filter((vote, place) => !voided.includes(place) && vote.shown === shown);
}

function agreeingVotes(wait: GateWait, command: Decide): readonly GateDecision[] {
  return countedVotes(wait, command).filter(({ option }) => option === command.option);
}

function leaveGate(
  run: Run,
  at: {
    readonly wait: GateWait;
    readonly phase: Phase;
    readonly option: GateOption;
    /** What a yes approves beside the evidence, or null where it is no yes. */
    readonly approved: JsonObject | null;
    readonly rejected: boolean;
    /** Checks that no longer pass, which permissive mode lets through. */
    readonly moved: readonly Blocker[];
  },
  circumstance: Circumstance,
): Considered {
  const { wait, phase, option, approved, rejected, moved } = at;
  const { now, principal } = circumstance;
  const { by } = wait;
  // A no gives nothing a value: neither its evidence a name nor its handler's state a place.
  const leaving: Leaving = {
    phase,
    ...resultOf(wait),
    ...(moved.length === 0 ? {} : { letThrough: true }),
    outcome: rejected ? 'rejected' : wait.outcome,
    state: rejected ? {} : wait.state,
    by,
    now,
    wouldRefuse: [...wait.wouldRefuse, ...moved],
    ...(approved === null ? {} : { approved }),
    database: rejected ? undefined : wait.database,
    made: wait.made,
  };
  if (option.next === undefined) return followRoute(run, leaving, circumstance);
  if (option.next === null) {
    return {
      verdict: ALLOWED,
      events: [
        { at: now, type: 'run_stopped', reason: `\`${option.label}\` was chosen`, by: principal.name },
      ],
    };
  }
  const asking = new Asking(circumstance);
  const permissive = run.workflow.enforcement.mode === 'permissive';
  const crossing = cross(run, leaving, { target: option.next, iterated: false, asking, permissive });
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (!crossing.ok) return turnAway(crossing.blockers);
  const { event } = crossing;
  if (event.type !== 'phase_completed') return { verdict: ALLOWED, events: [event] };
  return { verdict: passed(event.wouldRefuse, event.warnings), events: [event] };
}

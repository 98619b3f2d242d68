import type { JsonObject } from '../json.ts';
import { edgesOf } from '../model/edges.ts';
import type { HumanGate, Outcome, Phase, PhaseId } from '../model/workflow.ts';
import { ALLOWED, blocker, completeAction } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { installable } from './databaseHash.ts';
import { Asking, type Considered, escalation, refuseWork, turnAway } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { contextProblems } from './gateContext.ts';
import { shutWays } from './gateWays.ts';
import { filesIn, measuredIn, stateIn } from './measuredIn.ts';
import { routeFrom } from './route.ts';
import { type GateWait, type Result, type Run, resultOf } from './run.ts';
import { cross, type Leaving } from './transition.ts';
import type { Blocker, Verdict, Warning } from './verdict.ts';
import { warned } from './warnings.ts';

/** A phase whose checks have passed. */
export interface Completing extends Result {
  readonly phase: Phase;
  readonly outcome: Outcome;
  readonly state: JsonObject;
  readonly would: readonly Blocker[];
  readonly expected: Extract<Command, { kind: 'complete' }>['target'];
}

/** All checks have passed: the human gate, if any, else the way on. */
export function considerLeaving(run: Run, done: Completing, circumstance: Circumstance): Considered {
  if (done.phase.humanGate !== null) return openGateOf(run, done, circumstance);
  return followRoute(run, leavingWith(done, circumstance), circumstance, done.expected);
}

/** `fail` asks neither checks nor a human, so it never leads where only they may. */
export function leaveFailed(run: Run, done: Completing, circumstance: Circumstance): Considered {
  return followRoute(run, leavingWith(done, circumstance), circumstance, done.expected);
}

function openGateOf(run: Run, done: Completing, circumstance: Circumstance): Considered {
  const { now, principal } = circumstance;
  const { phase, outcome, state, would, expected } = done;
  const gate = phase.humanGate as HumanGate;
  // A human's yes must lead somewhere.
  if (!hasWay(phase, outcome) && gate.options.some(({ next }) => next === undefined)) {
    const counted = phase.work.kind === 'handler';
    return refuseWork(run, now, { blockers: [outcomeBlocker(phase, outcome)], counted });
  }
  // Which way it will be a human says; that it is none of the ways there are can be said at once.
  if (expected !== undefined && !leadsTo(phase, expected)) {
    return refuseWork(run, now, { blockers: [notNext(phase, expected)], counted: false });
  }
  const unclear = contextProblems(run, { ...done, by: principal.name, at: now });
  if (unclear.length > 0) {
    const blockers = unclear.map((reason) =>
      blocker('context_unclear', `gate \`${gate.id}\` cannot open: ${reason}`, completeAction(phase)),
    );
    return refuseWork(run, now, { blockers, counted: false });
  }
  // Instances of runs from before were numbered by epoch; none may come again.
  const instance = (run.gates ?? (run.rules === undefined ? run.epoch : 0)) + 1;
  const wait: GateWait = {
    for: 'gate',
    gate: `${gate.id}#${instance}`,
    since: now,
    ...resultOf(done),
    outcome,
    state,
    by: principal.name,
    votes: [],
    wouldRefuse: would,
    // Of a parallel phase each item brought its own, with its completion.
    ...(run.work.items === null ? installable(outcome, circumstance.database) : {}),
    ...measuredIn(circumstance),
    ...(phase.evidence.artifacts.some(({ bound }) => bound === true) ? stateIn(circumstance) : {}),
  };
  const asking = new Asking(circumstance);
  const visit = { ...done, by: principal.name, at: now };
  const shut = shutWays(run, { wait, phase, visit }, asking);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (shut.length > 0) return refuseWork(run, now, { blockers: shut, counted: false });
  return {
    verdict: passed(would, done.warnings),
    events: [{ at: now, type: 'gate_opened', phase: phase.id, wait, instance, ...filesIn(circumstance) }],
  };
}

function leavingWith(done: Completing, { now, principal, database }: Circumstance): Leaving {
  const { phase, outcome, state, would } = done;
  const by = principal.name;
  return { phase, ...resultOf(done), outcome, state, by, now, wouldRefuse: would, database };
}

/** Follows the phase's own route, after checks and any human's yes. */
export function followRoute(
  run: Run,
  leaving: Leaving,
  circumstance: Circumstance,
  expected?: Extract<Command, { kind: 'complete' }>['target'],
): Considered {
  const { phase, now } = leaving;
  const asking = new Asking(circumstance);
  const worked: Run = { ...run, state: { ...run.state, ...leaving.state } };
  const outcome = leaving.outcome as Outcome;
  const routed = routeFrom(worked, { phase, evidence: leaving.evidence, outcome }, asking);
  const refuse = (blockers: readonly Blocker[]): Considered =>
    run.status === 'active' ? refuseWork(run, now, { blockers, counted: false }) : turnAway(blockers);
  switch (routed.kind) {
    case 'asking':
      return { looks: asking.missing };
    case 'unanswerable':
      return refuse([
        blocker(
          'condition_unanswerable',
          `the way on cannot be told: ${routed.reason}`,
          completeAction(phase),
        ),
      ]);
    case 'unmapped':
      return refuse([outcomeBlocker(phase, routed.outcome)]);
    case 'exhausted': {
      const blockers = [
        blocker('iterations_exhausted', routed.message, {
          act: 'wait_for_human',
          text: 'wait: a human must act',
        }),
      ];
      const refusal = refuseWork(run, now, { blockers, counted: false });
      if ('looks' in refusal) return refusal;
      const refusals = refusal.events.filter((event) => event.type !== 'run_escalated');
      return {
        verdict: refusal.verdict,
        events: [...refusals, escalation(now, 'iterations', routed.message, blockers)],
      };
    }
    case 'to':
      break;
  }
  if (expected !== undefined && expected !== routed.target) {
    return refuse([notNext(phase, expected)]);
  }
  const permissive = run.workflow.enforcement.mode === 'permissive';
  const crossing = cross(run, leaving, {
    target: routed.target,
    iterated: routed.iterated,
    asking,
    permissive,
  });
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (!crossing.ok) return refuse(crossing.blockers);
  const event = crossing.event as RunEvent & { type: 'phase_completed' };
  return { verdict: passed(event.wouldRefuse, event.warnings), events: [event] };
}

/** A human's `null` stops the run, which is not the end an agent can expect. */
function leadsTo(phase: Phase, expected: PhaseId | null): boolean {
  const ways = edgesOf(phase).filter(({ by }) => by !== 'timeout');
  return ways.some(({ to, by }) => to === expected && (to !== null || by !== 'option'));
}

function notNext(phase: Phase, expected: PhaseId | null): Blocker {
  const message = `phase \`${phase.id}\` does not lead to \`${expected}\` now`;
  return blocker('not_the_next_phase', message, completeAction(phase));
}

function hasWay({ next }: Phase, outcome: Outcome): boolean {
  return next.kind !== 'outcomes' || Object.hasOwn(next.map, outcome) || next.otherwise !== undefined;
}

/** The refusal of an outcome a phase has no way for. */
export function outcomeBlocker(phase: Phase, outcome: Outcome): Blocker {
  const ways = phase.next.kind === 'outcomes' ? Object.keys(phase.next.map) : ['ok'];
  // `skip` is for handlers to say.
  const open = ways.filter((way) => way !== 'skip' || phase.work.kind === 'handler');
  const told = open.map((way) => `\`${way}\``).join(', ');
  return blocker(
    'outcome_not_allowed',
    `phase \`${phase.id}\` has no way for the outcome \`${outcome}\`; it has one for ${told}`,
    completeAction(phase),
  );
}

/** Allowed, with what would have been refused in strict mode, and with what only warns. */
export function passed(
  would: readonly Blocker[],
  warnings: readonly Warning[] = [],
): Verdict & { readonly allowed: true } {
  return { ...ALLOWED, ...(would.length === 0 ? {} : { wouldRefuse: would }), ...warned(warnings) };
}

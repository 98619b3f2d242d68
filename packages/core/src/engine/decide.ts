import { type Phase, phaseById } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { ALLOWED } from './blockers.ts';
import { considerClaim, considerRelease } from './claim.ts';
import type { Circumstance, Command, Fact, Look } from './command.ts';
import { considerComplete } from './complete.ts';
import { type Considered, NOT_LOOKED_AT } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { considerExpiry } from './expiry.ts';
import { considerFailure } from './failure.ts';
import { considerFence } from './fenceAct.ts';
import { considerDecide } from './gate.ts';
import {
  considerAnswer,
  considerAsk,
  considerBlocked,
  considerEscalate,
  considerResume,
  considerStop,
  considerTask,
} from './interventions.ts';
import { considerJoin, hasNoItems } from './items.ts';
import { considerMigrate } from './migrate.ts';
import { considerOverride } from './override.ts';
import type { Run } from './run.ts';
import type { Verdict } from './verdict.ts';

/** What came of a command. A refusal with no events changes nothing but the audit. */
export interface Decision {
  readonly verdict: Verdict;
  readonly events: readonly RunEvent[];
  /** The run after the events. */
  readonly run: Run;
}

/**
 * What must be looked at before deciding, given what is known already. Asked again with the answers until it asks
 * for nothing: later questions depend on earlier answers, and a refused submission costs no command runs.
 */
export function checksFor(run: Run, command: Command, circumstance: Circumstance): readonly Look[] {
  const considered = consider(run, command, circumstance);
  return 'looks' in considered ? considered.looks : [];
}

/** The heart: verdict and events from data alone. What nobody looked at counts as an error, never as a pass. */
export function decide(run: Run, command: Command, circumstance: Circumstance): Decision {
  return decided(run, closed(run, command, circumstance));
}

/** Both in one step: the decision, or what must be looked at first. */
export function decideOrLook(
  run: Run,
  command: Command,
  circumstance: Circumstance,
): Decision | { readonly looks: readonly Look[] } {
  const considered = consider(run, command, circumstance);
  return 'looks' in considered ? considered : decided(run, considered);
}

function decided(
  run: Run,
  { verdict, events, after }: Exclude<Considered, { looks: readonly Look[] }>,
): Decision {
  return { verdict, events, run: after ?? events.reduce(apply, run) };
}

function consider(run: Run, command: Command, circumstance: Circumstance): Considered {
  const considered = considerCommand(run, command, circumstance);
  if ('looks' in considered || !considered.verdict.allowed) return considered;
  return throughEmptyPhases(run, considered, circumstance);
}

/** A parallel phase without items has nothing to be worked on: it is completed as soon as it is entered. */
function throughEmptyPhases(
  run: Run,
  { verdict, events }: Exclude<Considered, { looks: readonly Look[] }>,
  circumstance: Circumstance,
): Considered {
  if (!events.some((event) => event.type === 'phase_completed')) return { verdict, events };
  const after = events.reduce(apply, run);
  if (!hasNoItems(after)) return { verdict, events, after };
  const phase = phaseById(after.workflow, after.phase) as Phase;
  const joined = considerJoin(after, { phase, expected: undefined }, circumstance);
  if ('looks' in joined) return joined;
  // Anyone who works on the run is told why it stands there, and asks for the join again.
  if (!joined.verdict.allowed) return { verdict, events };
  const onward = throughEmptyPhases(after, joined, circumstance);
  return 'looks' in onward ? onward : { verdict, events: [...events, ...onward.events] };
}

function considerCommand(run: Run, command: Command, circumstance: Circumstance): Considered {
  switch (command.kind) {
    case 'complete':
      return considerComplete(run, command, circumstance);
    case 'fetch_task':
      return considerTask(run, command, circumstance);
    case 'ask':
      return considerAsk(run, command, circumstance);
    case 'report_blocked':
      return considerBlocked(run, command, circumstance);
    case 'report_failure':
      return considerFailure(run, command, circumstance);
    case 'decide':
      return considerDecide(run, command, circumstance);
    case 'answer':
      return considerAnswer(run, command, circumstance);
    case 'resume':
      return considerResume(run, command, circumstance);
    case 'stop':
      return considerStop(run, command, circumstance);
    case 'migrate':
      return considerMigrate(run, command, circumstance);
    case 'override':
      return considerOverride(run, command, circumstance);
    case 'fence':
      return considerFence(run, command, circumstance);
    case 'claim':
      return considerClaim(run, command, circumstance);
    case 'release':
      return considerRelease(run, command, circumstance);
    case 'expire':
      return considerExpiry(run, circumstance) ?? { verdict: ALLOWED, events: [] };
    case 'escalate':
      return considerEscalate(run, command, circumstance);
  }
}

/** Answers every open look with an error until a verdict comes; each round asks for less, so it ends. */
function closed(
  run: Run,
  command: Command,
  circumstance: Circumstance,
): Exclude<Considered, { looks: readonly Look[] }> {
  let facts = circumstance.facts;
  for (;;) {
    const considered = consider(run, command, { ...circumstance, facts });
    if (!('looks' in considered)) return considered;
    const errors = considered.looks.map((look): [string, Fact] => [look.id, unknown(look)]);
    facts = { ...facts, ...Object.fromEntries(errors) };
  }
}

/** The fact of something that was asked for and never looked at. */
function unknown(look: Look): Fact {
  switch (look.kind) {
    case 'check':
      return { kind: 'check', result: NOT_LOOKED_AT };
    case 'handler':
      return { kind: 'handler', result: { ok: false, reason: NOT_LOOKED_AT.reason, timedOut: false } };
    case 'condition':
      return { kind: 'condition', result: { ok: false, reason: NOT_LOOKED_AT.reason } };
    case 'tree': {
      const reason = 'nobody compared the workspace with what it was';
      return { kind: 'tree', result: { ok: false, code: 'tree_unknown', reason } };
    }
  }
}

import { okTargets } from '../model/approval.ts';
import { edgesOf } from '../model/edges.ts';
import { didYouMean } from '../model/suggest.ts';
import { type Phase, phaseById, type Target } from '../model/workflow.ts';
import { blocker, humanActionFor, nextActionFor, SAY_WHY } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { Asking, type Considered, turnAway } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { fenceOf } from './fence.ts';
import { passed } from './leaving.ts';
import type { Override, Run } from './run.ts';
import { cross, type Leaving } from './transition.ts';
import type { Blocker } from './verdict.ts';

/**
 * A human breaks the glass: the phase is left although its evidence, its checks or its gate say no. Nothing is passed,
 * approved or named by it, and it stays with the run for good.
 */
export function considerOverride(
  run: Run,
  command: Extract<Command, { kind: 'override' }>,
  circumstance: Circumstance,
): Considered {
  const { principal, now } = circumstance;
  const away = overrideProblem(run, command, circumstance);
  if (away !== null) return turnAway([away]);
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const asking = new Asking(circumstance);
  const outside = fenceOf(run, phase, asking).blockers;
  if (asking.missing.length > 0) return { looks: asking.missing };
  // A phase can be overridden, its scope not: what lies outside would be the measure of the next phase, and unseen.
  if (outside.length > 0) {
    const text = `settle it with \`phasegate fence ${run.id}\`, then override`;
    return turnAway(outside.map((found) => ({ ...found, nextAction: { act: 'wait_for_human', text } })));
  }
  const { to, reason, signature } = command;
  const by = principal.name;
  const override: Override = { phase: phase.id, epoch: run.epoch, to, reason, by, at: now, signature };
  const leaving: Leaving = {
    phase,
    evidence: {},
    outcome: 'overridden',
    state: {},
    by,
    now,
    wouldRefuse: [],
  };
  const way = { target: to, iterated: false, asking, permissive: true };
  const crossing = cross(run, leaving, way);
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (!crossing.ok) return turnAway(crossing.blockers);
  const left = crossing.event as RunEvent & { type: 'phase_completed' };
  const note = `${by} overrode phase \`${phase.id}\`: ${reason}`;
  return {
    verdict: passed(left.wouldRefuse, left.warnings),
    events: [
      { at: now, type: 'phase_overridden', override },
      { ...left, ...(to === null ? {} : { note }) },
    ],
  };
}

/** Where an override leads: as asked for, or the one way that the phase has after `ok`. */
export function overrideTarget(run: Run, asked?: Target): Target | { readonly choices: readonly Target[] } {
  if (asked !== undefined) return asked;
  const phase = phaseById(run.workflow, run.phase);
  const ways = phase === undefined ? [] : okTargets(phase);
  return ways.length === 1 ? (ways[0] as Target) : { choices: ways };
}

/** Every place that an override of the phase a run is in may lead to; nowhere once it has ended. */
export function overrideWays(run: Run): readonly Target[] {
  const phase = phaseById(run.workflow, run.phase);
  if (phase === undefined) return [];
  // An option that stops the run leads to no end: by it a run would be completed from wherever somebody may stop it.
  const edges = edgesOf(phase).filter(({ by, to }) => by !== 'timeout' && (by !== 'option' || to !== null));
  return [...new Set([...okTargets(phase), ...edges.map(({ to }) => to)])];
}

function overrideProblem(
  run: Run,
  { phase, epoch, to, reason }: Extract<Command, { kind: 'override' }>,
  { principal }: Circumstance,
): Blocker | null {
  // INVARIANT: only a human's command produces `phase_overridden`, whatever surface it comes through.
  if (principal.kind !== 'human')
    return blocker('not_a_human', 'only a human may override a phase', nextActionFor(run));
  const next = humanActionFor(run);
  if (run.phase === null) return blocker('run_ended', `run \`${run.id}\` is already ${run.status}`, next);
  if (phase !== run.phase || epoch !== run.epoch) {
    const message = `run \`${run.id}\` has moved since: it is in phase \`${run.phase}\` now; look again`;
    return blocker('shown_changed', message, next);
  }
  if (reason.trim() === '') return blocker('reason_required', 'an override needs a reason', SAY_WHY);
  if (overrideWays(run).includes(to)) return null;
  const ways = overrideWays(run);
  const where = to === null ? 'the end' : `\`${to}\``;
  const meant = to === null ? '' : didYouMean(`${to}`, ways.map(String));
  const message = `phase \`${run.phase}\` does not lead to ${where}${meant}; it leads to ${ways.map(wayText).join(', ')}`;
  const words = ways.map((way) => `\`--to ${way ?? 'end'}\``).join(' or ');
  const text = `override again with ${words}`;
  return blocker('not_the_next_phase', message, { act: 'wait_for_human', text });
}

function wayText(way: Target): string {
  return way === null ? 'the end' : `\`${way}\``;
}

import type { Facts, Run, RunEvent } from '@phasegate/core/engine';
import { scopeFor } from '@phasegate/core/engine';
import { evaluate, leadsBack, type Phase, phaseById, type Way, waysOf } from '@phasegate/core/model';

type Completed = Extract<RunEvent, { type: 'phase_completed' }>;

/** How a phase came to be left: the option a human chose, if one did, and what was looked at. */
export interface LeftBy {
  readonly option: string | null;
  readonly facts: Facts;
}

/** The way a completed phase was left by; null where the records do not say which of several it was. */
export function wayTaken(run: Run, event: Completed, by: LeftBy): Way | null {
  const phase = phaseById(run.workflow, event.phase);
  if (phase === undefined) return null;
  const ways = waysOf(phase);
  if (event.outcome === 'expired') return ways.find((way) => way.by === 'timeout') ?? null;
  // A human led it past all that the workflow asks: that is none of its ways.
  if (event.outcome === 'overridden') return null;
  const chosen = ways.find((way) => way.by === 'option' && way.label === by.option);
  const way =
    chosen ??
    routeTaken(run, event, {
      phase,
      by,
      ways: ways.filter(({ by: how }) => how !== 'option' && how !== 'timeout'),
    });
  if (way !== undefined && way.to === event.next) return way;
  const leading = ways.filter(({ to }) => to === event.next);
  return leading.length === 1 ? (leading[0] as Way) : null;
}

/** The way of an option that ends the run. */
export function stoppingWay(run: Run, option: string): Way | null {
  const phase = phaseById(run.workflow, run.phase);
  const ways = phase === undefined ? [] : waysOf(phase);
  return ways.find((way) => way.by === 'option' && way.label === option && way.to === null) ?? null;
}

function routeTaken(
  run: Run,
  event: Completed,
  at: { readonly phase: Phase; readonly by: LeftBy; readonly ways: readonly Way[] },
): Way | undefined {
  const ways = at.ways.filter(({ option }) => option === at.by.option);
  const meant = meantWay(run, event, { ...at, ways });
  if (meant === undefined || event.iterated || !leadsBack(run.workflow, event.phase, meant.to)) return meant;
  return ways.find((way) => way.by === 'exhausted');
}

/** The way before the bound of a loop is asked. */
function meantWay(
  run: Run,
  event: Completed,
  { phase, by, ways }: { readonly phase: Phase; readonly by: LeftBy; readonly ways: readonly Way[] },
): Way | undefined {
  const route = phase.next;
  if (route.kind === 'to') return ways.find((way) => way.by === 'next');
  if (route.kind === 'outcomes') {
    const label = Object.hasOwn(route.map, event.outcome) ? event.outcome : '_default';
    const named = (word: string) => ways.find((way) => way.by === 'outcome' && way.label === word);
    return named(label) ?? named(event.outcome);
  }
  const answer = answerOf(run, event, { phase, by });
  if (answer === undefined) return undefined;
  // Written in this order by `edgesOf`: the condition, then `else`.
  const [onTrue, onFalse] = ways.filter((way) => way.by === 'condition');
  return answer ? onTrue : onFalse;
}

function answerOf(
  run: Run,
  event: Completed,
  { phase, by }: { readonly phase: Phase; readonly by: LeftBy },
): boolean | undefined {
  if (phase.next.kind !== 'when') return undefined;
  const { condition } = phase.next;
  if (condition.kind === 'function') {
    const fact = by.facts[`${phase.id}/next`];
    return fact?.kind === 'condition' && fact.result.ok ? fact.result.value : undefined;
  }
  const worked: Run = { ...run, state: { ...run.state, ...event.state } };
  const result = evaluate(condition.expression, scopeFor(worked, { phase, evidence: event.evidence }));
  return result.ok ? result.value : undefined;
}

import type { Phase } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { blocker, nextActionFor } from './blockers.ts';
import { openItems } from './claimable.ts';
import type { Circumstance, Command } from './command.ts';
import { installable } from './databaseHash.ts';
import { Asking, type Considered, escalation, refuseWork, turnAway } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { type ItemStand, type Keyed, standOf } from './itemStand.ts';
import { joinedOutcome, joinedResult, joinedState } from './joining.ts';
import { type Completing, considerLeaving, leaveFailed, passed } from './leaving.ts';
import { MOST_ITEMS_TOLD } from './phaseText.ts';
import { type Established, type Item, type Run, resultOf } from './run.ts';
import { checkBlockers, checkWarnings, established } from './transition.ts';
import type { Blocker, Warning } from './verdict.ts';

/** An item is done; when it was the last, the phase is, with the results joined. */
export function considerItem(
  run: Run,
  key: string,
  done: Completing,
  circumstance: Circumstance,
): Considered {
  const { now, principal } = circumstance;
  const { outcomes: _, ...result } = resultOf(done);
  const completed: RunEvent = {
    at: now,
    type: 'item_completed',
    phase: done.phase.id,
    item: key,
    ...result,
    ...(Object.keys(done.state).length === 0 ? {} : { held: done.state }),
    ...(done.outcome === 'ok' ? {} : { outcome: done.outcome }),
    ...(done.would.length === 0 ? {} : { wouldRefuse: done.would }),
    ...installable(done.outcome, circumstance.database),
  };
  // Of thousands, each would be looked at again only to know that this was not the last.
  if (standOf(run.work.items).open.some(([one]) => one !== key))
    return { verdict: passed(done.would, done.warnings), events: [completed] };
  const itself = apply(run, completed);
  if (standOf(itself.work.items).failed.length > 0) {
    const events = [completed, failedItems(itself, now)];
    return { verdict: passed(done.would, done.warnings), events };
  }
  // The join belongs to the one who made it possible: they go on with the run, in an epoch of their own.
  const events: readonly RunEvent[] =
    run.holder === principal.name
      ? [completed]
      : [completed, { at: now, type: 'run_claimed', holder: principal.name }];
  const left = considerJoin(events.reduce(apply, run), done, circumstance);
  return 'looks' in left ? left : { ...left, events: [...events, ...left.events] };
}

/**
 * Every item is done: the phase's blockers are asked about the joined results, and then it is left. A join that is
 * refused reopens its items, since only they can change what was refused.
 */
export function considerJoin(
  run: Run,
  { phase, expected }: Pick<Completing, 'phase' | 'expected'>,
  circumstance: Circumstance,
): Considered {
  const items = run.work.items ?? {};
  const state = joinedState(items);
  const worked: Run = { ...run, state: { ...run.state, ...state } };
  const outcome = joinedOutcome(items);
  const joined = { phase, ...joinedResult(items), outcome, state, expected };
  const would = Object.values(items).flatMap((item) => item.wouldRefuse ?? []);
  if (outcome === 'fail') return reopening(leaveFailed(run, { ...joined, would }, circumstance));
  const asking = new Asking(circumstance);
  const judged = { phase, evidence: joined.evidence };
  const looking = { judged, checks: phase.blockers, asking, stage: 'join' };
  const failed = checkBlockers(worked, looking);
  const warnings = [...itemWarnings(run), ...checkWarnings(worked, looking)];
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (failed.length > 0 && run.workflow.enforcement.mode !== 'permissive')
    return reopening(refuseWork(run, circumstance.now, { blockers: failed, counted: true }));
  const done: Completing = {
    ...joined,
    ...(failed.length > 0 ? { letThrough: true } : {}),
    would: [...would, ...failed],
    warnings,
    established: [...itemsEstablished(run), ...established(looking)],
  };
  return reopening(considerLeaving(run, done, circumstance));
}

function itemsEstablished(run: Run): readonly Established[] {
  return Object.entries(run.work.items ?? {}).flatMap(([key, item]) =>
    (item.established ?? []).map((one) => ({ ...one, check: `${key}: ${one.check}` })),
  );
}

/** The warnings of every item, each with whose it is: the join speaks for all of them. */
function itemWarnings(run: Run): readonly Warning[] {
  return Object.entries(run.work.items ?? {}).flatMap(([key, item]) =>
    (item.warnings ?? []).map(({ code, message }) => ({ code, message: `item \`${key}\`: ${message}` })),
  );
}

/** Whether a run stands in a parallel phase that has nothing to be worked on: the engine completes it itself. */
export function hasNoItems(run: Run): boolean {
  return run.status === 'active' && run.work.items !== null && standOf(run.work.items).total === 0;
}

/** An agent that expected another way is told so, and what it did stays done. */
function reopening(considered: Considered): Considered {
  if ('looks' in considered || considered.verdict.allowed) return considered;
  if (considered.verdict.blockers.some(({ code }) => code === 'not_the_next_phase')) return considered;
  const events = considered.events.map((event) =>
    event.type === 'phase_refused' ? { ...event, reopens: true as const } : event,
  );
  return { ...considered, events };
}

/** Once every open item has failed twice, only a human can go on. */
export function withFailedItems(run: Run, now: string, refusal: Considered): Considered {
  if ('looks' in refusal || run.work.items === null) return refusal;
  const after = refusal.events.reduce(apply, run);
  const { open, failed } = standOf(after.work.items);
  const stuck =
    (after.status === 'active' || after.status === 'queued') && open.length === 0 && failed.length > 0;
  return stuck ? { ...refusal, events: [...refusal.events, failedItems(after, now)] } : refusal;
}

/** Hands a run to a human whose open items have all failed. */
export function failedItems(run: Run, now: string, reason: 'attempts' | 'crashes' = 'attempts'): RunEvent {
  const { failed } = standOf(run.work.items);
  const blockers = failed.slice(0, MOST_ITEMS_TOLD).map(([key, item]) =>
    blocker('check_failed', `item \`${key}\`: ${item.error ?? 'failed'}`, {
      act: 'wait_for_human',
      text: 'wait: a human must act',
    }),
  );
  const often = failed.some(([, { attempts }]) => attempts < 2) ? ' or were refused too often' : '';
  const how =
    reason === 'attempts' ? `failed twice${often}` : 'failed, the last because its agent was lost too often';
  return escalation(now, reason, `${failed.length} items of phase \`${run.phase}\` ${how}`, blockers);
}

/** The item a submission is about, `all` where only the join is left, null in an ordinary phase, or why there is none. */
export function readItem(
  run: Run,
  phase: Phase,
  command: Extract<Command, { kind: 'complete' | 'report_failure' }>,
): Item | 'all' | Blocker | null {
  const items = run.work.items;
  if (items === null && command.item === undefined) return null;
  // Names an item that is open, so that the next call is one that can be made.
  const action = nextActionFor(run);
  if (items === null) return blocker('item_unknown', `phase \`${phase.id}\` has no items`, action);
  const stand = standOf(items);
  if (command.item === undefined) {
    if (stand.completed === stand.total) return 'all';
    return blocker(
      'item_required',
      `phase \`${phase.id}\` is completed item by item; open: ${shortList(run, stand)}`,
      action,
    );
  }
  const item = Object.hasOwn(items, command.item) ? items[command.item] : undefined;
  if (item === undefined)
    return blocker(
      'item_unknown',
      `there is no item \`${command.item}\`; open: ${shortList(run, stand)}`,
      action,
    );
  if (item.status === 'completed')
    return blocker('item_done', `item \`${command.item}\` is already completed`, action);
  if (item.status === 'failed') {
    return blocker('item_done', `item \`${command.item}\` is set aside; a human must act`, action);
  }
  return item;
}

/**
 * Turns the holder of a run away who names no item where others hold every open one; null where that is not so. Before
 * anything that is handed in is looked at, and counted for nothing: by asking often it must not take the run from them.
 */
export function awayFromItems(run: Run, phase: Phase, named: string | undefined): Considered | null {
  if (named !== undefined || openItems(run).length === 0 || isOpenToHolder(run)) return null;
  const message = `phase \`${phase.id}\` is completed item by item, and other agents hold every open item`;
  return turnAway([blocker('item_held', message, nextActionFor(run))]);
}

function isOpenToHolder(run: Run): boolean {
  const { free, byHolder } = standOf(run.work.items);
  const own = run.holder === null ? [] : (byHolder.get(run.holder) ?? []);
  return free !== undefined || own.some(([, { status }]) => status === 'pending');
}

/** What is open to the run's holder. No refusal grows with the number of items. */
function shortList(run: Run, { open, byHolder }: ItemStand): string {
  const others = [...byHolder].filter(([agent]) => agent !== run.holder);
  const count = others.reduce((left, [, held]) => left - held.filter(isPending).length, open.length);
  if (count === 0) return 'none';
  const shown: string[] = [];
  for (const [key, { holder = run.holder }] of open) {
    if (holder === run.holder) shown.push(key.length > 80 ? `${key.slice(0, 80)}…` : key);
    if (shown.length === Math.min(count, 20)) break;
  }
  return count > 20 ? `${shown.join(', ')} and ${count - 20} more` : shown.join(', ');
}

function isPending([, { status }]: Keyed): boolean {
  return status === 'pending';
}

import type { Json, JsonObject } from '@phasegate/core';
import { goalAuthor } from '@phasegate/core/engine';
import { oneLine } from '@phasegate/core/model';
import { encodeGoal } from '@phasegate/wire';
import { hasEnded, type WatchedRun } from './watchedRuns.ts';

/** Something that became different of a run. */
export interface Change {
  readonly now: WatchedRun;
  /** Null for a run that was not there, or was not looked at before. */
  readonly before: WatchedRun | null;
}

/** What is different between two looks; at the first, every run that has not ended. */
export function changesBetween(
  before: readonly WatchedRun[] | null,
  now: readonly WatchedRun[],
): readonly Change[] {
  const known = new Map((before ?? []).map((run) => [run.run, run]));
  return now.flatMap((run): readonly Change[] => {
    const last = known.get(run.run) ?? null;
    if (before === null && hasEnded(run)) return [];
    // One that ended before anybody looked, and comes up because another went away.
    if (last === null && before !== null && hasEnded(run) && isOlder(run, before)) return [];
    return last !== null && essence(last) === essence(run) ? [] : [{ now: run, before: last }];
  });
}

/** Whether a human is waited for now who was not before. */
export function callsHuman({ now, before }: Change): boolean {
  if (now.waits === null) return false;
  return before?.waits?.since !== now.waits.since || before.waits.for !== now.waits.for;
}

/** A change as one line for a human. */
export function changeLine({ now }: Change): string {
  const { run, workflow, status, phase, agents, goal, target, waits, overridden, updatedAt } = now;
  const about = [
    ...(target === null ? [] : [`target ${oneLine(target)}`]),
    ...(goal === undefined ? [] : [`goal, ${goalAuthor(goal)}: ${oneLine(goal.text)}`]),
  ];
  const words = [
    `${updatedAt}  ${run}  ${workflow}  ${status}`,
    ...(overridden === undefined ? [] : [`${overridden} overridden`]),
    ...(phase === null ? [] : [`phase ${oneLine(String(phase))}`]),
    ...(agents.length === 0 ? [] : [`agent ${agents.map(oneLine).join(', ')}`]),
    ...(waits === null ? [] : [`${waitTitle(now)}: ${oneLine(waits.says)}`, waits.command]),
    ...about,
  ];
  return words.join('  ');
}

/** A change as JSON. */
export function changeJson({ now, before }: Change): JsonObject {
  const { run, workflow, status, phase, target, agents, leaseUntil, waits, updatedAt } = now;
  return {
    run,
    workflow,
    status,
    was: before?.status ?? null,
    phase,
    target,
    ...(encodeGoal(now) as JsonObject),
    agents: [...agents],
    lease_until: leaseUntil,
    waits_for: waits === null ? null : ({ ...waits } as Json),
    updated_at: updatedAt,
  };
}

/** What a run waits for, in a few words. */
export function waitTitle({ waits }: Pick<WatchedRun, 'waits'>): string {
  if (waits === null) return '';
  if (waits.for === 'gate') return `gate ${oneLine(String(waits.gate))}`;
  return waits.for === 'questions' ? 'an agent asks' : 'a human must act';
}

/** All but what changes with every call of its agent. */
function essence({ leaseUntil: _until, updatedAt: _at, ...run }: WatchedRun): string {
  return JSON.stringify(run);
}

function isOlder(run: WatchedRun, before: readonly WatchedRun[]): boolean {
  return before.some(({ updatedAt }) => updatedAt >= run.updatedAt);
}

import type { Run } from '@phasegate/core';
import { heldItems } from '@phasegate/core/engine';
import { type AllowedCall, lastsUntil } from './allowedCall.ts';
import type { Handovers } from './keptCalls.ts';

/** In which time of its phase an agent may have held the run, in milliseconds since the epoch. */
export interface HeldIn {
  readonly from: number;
  readonly until: number;
}

/** For the name of an agent: in which time it may have held the run; undefined where it has not, since its phase was entered. */
export type HeldBy = (principal: string) => HeldIn | undefined;

/** From when, at the earliest, to when, at the latest, each agent has held the run or an item of it. */
export function heldIn(run: Run, { ofAgents, isCut }: Handovers): HeldBy {
  const held = new Map<string, HeldIn>();
  const entered = Date.parse(run.work.enteredAt);
  for (const [name, { handovers, isCut: isOneCut }] of ofAgents) {
    const [first, last] = [handovers[0], handovers.at(-1)];
    if (first === undefined || last === undefined) continue;
    // One who let it go first had it when the phase was entered.
    const from = first.took && !isOneCut && !isCut ? Date.parse(first.time) : entered;
    held.set(`agent:${name}`, { from, until: last.took ? Number.POSITIVE_INFINITY : Date.parse(last.time) });
  }
  for (const name of agentsOf(run)) {
    const from = held.get(`agent:${name}`)?.from ?? entered;
    held.set(`agent:${name}`, { from, until: Number.POSITIVE_INFINITY });
  }
  // Where handovers were let go, nobody is known not to have held it: what is forgotten excuses nothing.
  const unknown = isCut ? { from: entered, until: Number.POSITIVE_INFINITY } : undefined;
  return (principal) => held.get(principal) ?? unknown;
}

/** Whether a call was none of one who held the run then. */
export function isBeside(held: HeldIn | undefined, call: AllowedCall): boolean {
  return held === undefined || lastsUntil(call) < held.from || call.started > held.until;
}

function agentsOf(run: Run): readonly string[] {
  const held = heldItems(run).flatMap(([, { holder }]) => holder ?? []);
  return run.holder === null ? held : [run.holder, ...held];
}

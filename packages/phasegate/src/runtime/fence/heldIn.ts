import type { Run } from '@phasegate/core';
import { heldItems } from '@phasegate/core/engine';
import type { AllowedCall } from './allowedCall.ts';
import type { Handovers } from './keptCalls.ts';

/** In which time of its phase an agent may have held the run, in milliseconds since the epoch. */
export interface HeldIn {
  readonly from: number;
  readonly until: number;
}

/** Of every agent that has held it since its phase was entered: from when, at the earliest, to when, at the latest. */
export function heldIn(run: Run, { ofAgents, isCut }: Handovers): ReadonlyMap<string, HeldIn> {
  const held = new Map<string, HeldIn>();
  const entered = Date.parse(run.work.enteredAt);
  for (const [name, handovers] of ofAgents) {
    const [first, last] = [handovers[0], handovers.at(-1)];
    if (first === undefined || last === undefined) continue;
    // One who let it go first had it when the phase was entered.
    const from = first.took && !isCut ? Date.parse(first.time) : entered;
    held.set(`agent:${name}`, { from, until: last.took ? Number.POSITIVE_INFINITY : Date.parse(last.time) });
  }
  for (const name of agentsOf(run)) {
    const from = held.get(`agent:${name}`)?.from ?? entered;
    held.set(`agent:${name}`, { from, until: Number.POSITIVE_INFINITY });
  }
  return held;
}

/** Whether a call was none of one who held the run then. */
export function isBeside(held: HeldIn | undefined, { started, ended }: AllowedCall): boolean {
  return held === undefined || ended < held.from || started > held.until;
}

function agentsOf(run: Run): readonly string[] {
  const held = heldItems(run).flatMap(([, { holder }]) => holder ?? []);
  return run.holder === null ? held : [run.holder, ...held];
}

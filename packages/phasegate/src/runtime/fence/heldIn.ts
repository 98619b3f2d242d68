import type { Run } from '@phasegate/core';
import { heldItems } from '@phasegate/core/engine';
import { type AllowedCall, agentIn, lastsUntil } from './allowedCall.ts';
import type { Handover, Handovers } from './keptCalls.ts';

/** In which time of its phase an agent may have held the run, in milliseconds since the epoch. */
export interface HeldIn {
  readonly from: number;
  readonly until: number;
}

/** For the name of an agent: in which time it may have held the run; undefined where it has not, since its phase was entered. */
export type HeldBy = (principal: string) => HeldIn | undefined;

/** From when, at the earliest, to when, at the latest, each agent has held the run or an item of it. */
export function heldIn(run: Run, { ofAgents, isCut }: Handovers): HeldBy {
  const holders = agentsOf(run);
  const entered = Date.parse(run.work.enteredAt);
  // What is forgotten excuses nothing: nobody of whom some was let go is known not to have held it.
  return (principal) => {
    const name = agentIn(principal);
    if (name === null) return undefined;
    const handovers = ofAgents.get(name) ?? [];
    const last = handovers.at(-1);
    const isHolding = holders.includes(name) || isCut(name);
    if (last === undefined && !isHolding) return undefined;
    const until = isHolding || last?.took !== false ? Number.POSITIVE_INFINITY : Date.parse(last.time);
    return { from: isCut(name) ? entered : heldFrom(run, name, handovers), until };
  };
}

/** Who let it go first, or holds the run and did not take it up since, had it when the phase was entered. */
function heldFrom(run: Run, name: string, handovers: readonly Handover[]): number {
  const [first] = handovers;
  const whole = handovers.find(({ ofRun }) => ofRun);
  const hadIt = whole === undefined ? run.holder === name : !whole.took;
  return Date.parse(first?.took === true && !hadIt ? first.time : run.work.enteredAt);
}

/** Whether a call was none of one who held the run then. */
export function isBeside(held: HeldIn | undefined, call: AllowedCall): boolean {
  return held === undefined || lastsUntil(call) < held.from || call.started > held.until;
}

function agentsOf(run: Run): readonly string[] {
  const held = heldItems(run).flatMap(([, { holder }]) => holder ?? []);
  return run.holder === null ? held : [run.holder, ...held];
}

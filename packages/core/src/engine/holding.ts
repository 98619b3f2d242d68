import { isAnyHeld, standOf } from './itemStand.ts';
import type { Item, Run, RunCore } from './run.ts';

/** True when this agent holds the run, or with `item` that item of it, as things stand. */
export function holds(run: Run, agent: string, item?: string | null): boolean {
  if (run.phase === null) return false;
  if (item === undefined || item === null) return run.holder === agent;
  return itemHeld(itemOf(run, item), agent);
}

/** What something was judged on: an epoch, and the agent who held the run, or an item of it, by its token. */
export interface HeldAt {
  readonly epoch: number;
  readonly agent: string;
  readonly item: string | null;
  /** Of the token, where one was shown: the lease must know it still. */
  readonly jti?: string;
}

/** The tokens that a lease knows. */
interface LeaseTokens {
  readonly jti: string | null;
  readonly previousJti: string | null;
}

/** Whether that is still so. In one epoch of a parallel phase items, and the run itself, may change hands. */
export function isStillSo(
  run: Run,
  judgedAt: number | HeldAt | undefined,
  leaseOf: (item: string | null) => LeaseTokens | undefined,
): boolean {
  if (judgedAt === undefined) return true;
  if (typeof judgedAt === 'number') return run.epoch === judgedAt;
  const { epoch, agent, item, jti } = judgedAt;
  if (run.epoch !== epoch || !holds(run, agent, item)) return false;
  if (jti === undefined) return true;
  // Replaced by newer ones, or lost and claimed again by the same agent: then the lease has other tokens.
  const lease = leaseOf(item);
  return jti === lease?.jti || jti === lease?.previousJti;
}

/** True when this agent holds an item of the run, whichever. */
export function holdsAnItem(run: Run, agent: string): boolean {
  return (
    standOf(run.work.items)
      .byHolder.get(agent)
      ?.some(([, item]) => itemHeld(item, agent)) ?? false
  );
}

/** True while any agent holds the run or an item of it: one that nobody works on is queued. */
export function inHands(run: Pick<RunCore, 'holder' | 'work'>): boolean {
  return run.holder !== null || isAnyHeld(run.work.items);
}

/** The item of that key, if there is one. */
export function itemOf(run: Run, key: string): Item | undefined {
  const { items } = run.work;
  return items !== null && Object.hasOwn(items, key) ? items[key] : undefined;
}

function itemHeld(item: Item | undefined, agent: string): boolean {
  return item?.status === 'pending' && item.holder === agent;
}

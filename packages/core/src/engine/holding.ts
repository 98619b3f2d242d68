import type { Item, Run, RunCore } from './run.ts';

/** True when this agent holds the run, or with `item` that item of it, as things stand. */
export function holds(run: Run, agent: string, item?: string | null): boolean {
  if (run.phase === null) return false;
  if (item === undefined || item === null) return run.holder === agent;
  return itemHeld(itemOf(run, item), agent);
}

/** True when this agent holds an item of the run, whichever. */
export function holdsAnItem(run: Run, agent: string): boolean {
  return Object.values(run.work.items ?? {}).some((item) => itemHeld(item, agent));
}

/** True while any agent holds the run or an item of it: one that nobody works on is queued. */
export function inHands(run: Pick<RunCore, 'holder' | 'work'>): boolean {
  return run.holder !== null || Object.values(run.work.items ?? {}).some((item) => item.holder !== undefined);
}

/** The item of that key, if there is one. */
export function itemOf(run: Run, key: string): Item | undefined {
  const { items } = run.work;
  return items !== null && Object.hasOwn(items, key) ? items[key] : undefined;
}

function itemHeld(item: Item | undefined, agent: string): boolean {
  return item?.status === 'pending' && item.holder === agent;
}

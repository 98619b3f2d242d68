import type { Item, Run } from './run.ts';

type Items = Readonly<Record<string, Item>>;

/** The keys of the items that each agent holds. */
type Holders = Map<string, Set<string>>;

/**
 * Items that one replay alone has, with who holds them. INVARIANT: nobody else ever sees them before they are disowned;
 * they are changed in place, and nothing else that is known of items is known of them.
 */
const owned = new WeakMap<Items, Holders>();

/**
 * The run with items of its own, which `apply` changes in place: an agent may claim one of thousands and give it back as
 * often as it likes, and each event would copy all of them.
 */
export function ownItems(run: Run): Run {
  const { items } = run.work;
  if (items === null || owned.has(items)) return run;
  const own = { ...items };
  const holders: Holders = new Map();
  for (const [key, { holder }] of Object.entries(own)) addHolder(holders, holder, key);
  owned.set(own, holders);
  return { ...run, work: { ...run.work, items: own } };
}

/** The run's items as those of any other run: from now on a change makes new ones. */
export function disownItems({ work }: Run): void {
  if (work.items !== null) owned.delete(work.items);
}

/** Who holds which of these items, where a replay owns them. */
export function holdersOf(items: Items): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  return owned.get(items);
}

/** Changes an item in place, where a replay owns them; whether it did. */
export function changeOwned(items: Items, key: string, item: Item): boolean {
  const holders = owned.get(items);
  if (holders === undefined || !Object.hasOwn(items, key)) return false;
  const before = items[key] as Item;
  if (before.holder !== item.holder) {
    removeHolder(holders, before.holder, key);
    addHolder(holders, item.holder, key);
  }
  (items as Record<string, Item>)[key] = item;
  return true;
}

function addHolder(holders: Holders, agent: string | undefined, key: string): void {
  if (agent === undefined) return;
  const keys = holders.get(agent);
  if (keys === undefined) holders.set(agent, new Set([key]));
  else keys.add(key);
}

function removeHolder(holders: Holders, agent: string | undefined, key: string): void {
  if (agent === undefined) return;
  const keys = holders.get(agent);
  keys?.delete(key);
  if (keys?.size === 0) holders.delete(agent);
}

import { changeOwned, holdersOf } from './ownedItems.ts';
import type { Item } from './run.ts';

/** The items of a parallel phase by their keys. */
export type Items = Readonly<Record<string, Item>>;

/** An item with its key. */
export type Keyed = readonly [string, Item];

/** How the items of a phase stand. All lists are in the order of the items. */
export interface ItemStand {
  readonly total: number;
  readonly completed: number;
  /** What can be worked on, no matter who holds it. */
  readonly open: readonly Keyed[];
  readonly failed: readonly Keyed[];
  /** What some agent holds. */
  readonly held: readonly Keyed[];
  /** The same by the agent. */
  readonly byHolder: ReadonlyMap<string, readonly Keyed[]>;
  /** The first open item that nobody holds. */
  readonly free: Keyed | undefined;
}

/**
 * How these items stand. It is kept with them, as every view, claim and call asks, and there may be thousands: they
 * are looked through once, and then only carried on.
 */
export function standOf(items: Items | null): ItemStand {
  if (items === null) return NONE;
  const known = stands.get(items);
  if (known !== undefined) return known;
  const stand = lookedThrough(items);
  // What is changed in place stands otherwise in a moment.
  if (holdersOf(items) === undefined) stands.set(items, stand);
  return stand;
}

function lookedThrough(items: Items): ItemStand {
  const keyed = Object.keys(items).map((key): Keyed => [key, items[key] as Item]);
  const open = keyed.filter(([, { status }]) => status === 'pending');
  const failed = keyed.filter(([, { status }]) => status === 'failed');
  const held = keyed.filter(([, { holder }]) => holder !== undefined);
  return made({ total: keyed.length, open, failed, held });
}

/** Whether some agent holds any of them. */
export function isAnyHeld(items: Items | null): boolean {
  const holders = items === null ? undefined : holdersOf(items);
  return holders === undefined ? standOf(items).held.length > 0 : holders.size > 0;
}

/** The items with one of them changed. What is known of them is known of the new ones too. */
export function withOne(items: Items, key: string, item: Item): Items {
  if (changeOwned(items, key, item)) return items;
  const after = copyOf(items, key, item);
  logChange(items, key, after);
  const known = stands.get(items);
  const before = items[key];
  // What else may happen to an item is rare, and the new ones are looked through again.
  if (known === undefined || before?.status !== 'pending' || item.status === 'failed') return after;
  if (known.held.some(([, { status }]) => status !== 'pending')) return after;
  const at = known.open.findIndex(([one]) => one === key);
  const open = item.status === 'pending' ? known.open.with(at, [key, item]) : known.open.toSpliced(at, 1);
  const { total, failed } = known;
  const isHeld = before.holder !== undefined || item.holder !== undefined;
  const held = isHeld ? open.filter(([, { holder }]) => holder !== undefined) : known.held;
  stands.set(after, made({ total, open, failed, held }));
  return after;
}

/** One by one: of thousands, a spread takes twice as long. */
function copyOf(items: Items, key: string, item: Item): Items {
  if (key === '__proto__' || Object.hasOwn(items, '__proto__')) return { ...items, [key]: item };
  const copy: Record<string, Item> = {};
  for (const one of Object.keys(items)) copy[one] = items[one] as Item;
  copy[key] = item;
  return copy;
}

/**
 * The keys of the items that may differ, where the later ones were made of the earlier ones by `withOne` alone; else null.
 * Who stores them need not look through all of them for one that changed.
 */
export function changedSince(earlier: Items, later: Items): readonly string[] | null {
  if (earlier === later) return [];
  const [from, to] = [logs.get(earlier), logs.get(later)];
  if (from === undefined || to === undefined || from.log !== to.log || from.length > to.length) return null;
  return [...new Set(to.log.slice(from.length, to.length))];
}

function logChange(before: Items, key: string, after: Items): void {
  let place = logs.get(before);
  // Two may be made of the same items, such as of a decision that was not written; then each has a log of its own.
  if (place === undefined || place.log.length !== place.length) {
    place = { log: [], length: 0 };
    logs.set(before, place);
  }
  place.log.push(key);
  logs.set(after, { log: place.log, length: place.length + 1 });
}

/** Keys that were changed one after another, and how many of these changes the items have behind them. */
interface LogPlace {
  readonly log: string[];
  readonly length: number;
}

/** The log holds keys and no items, so that those from before can go. */
const logs = new WeakMap<Items, LogPlace>();

const stands = new WeakMap<Items, ItemStand>();

function made(counted: Pick<ItemStand, 'total' | 'open' | 'failed' | 'held'>): ItemStand {
  const { total, open, failed, held } = counted;
  const byHolder = Map.groupBy(held, ([, { holder }]) => holder as string);
  const free = open.find(([, { holder }]) => holder === undefined);
  return { ...counted, completed: total - open.length - failed.length, byHolder, free };
}

const NONE: ItemStand = made({ total: 0, open: [], failed: [], held: [] });

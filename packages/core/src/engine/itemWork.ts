import { reclaimsOf } from '../model/workflow.ts';
import type { RunEvent } from './events.ts';
import { reopened } from './itemDone.ts';
import { type Items, standOf, withOne } from './itemStand.ts';
import { changeOwned, holdersOf } from './ownedItems.ts';
import { repeatedRefusal } from './repeatedRefusal.ts';
import type { Item, PhaseWork, Run } from './run.ts';

/** What a refusal leaves: it is remembered, and counts perhaps, with the phase or with one item. */
export function afterRefusal(run: Run, event: Extract<RunEvent, { type: 'phase_refused' }>): PhaseWork {
  if (event.ofItem === true && event.item !== null) return afterItemRefusal(run, event.item, event);
  const refusal = repeatedRefusal(run, event.blockers);
  const items = event.reopens === true && run.work.items !== null ? run.work.items : null;
  const work: PhaseWork = {
    ...withOutside(run.work, event),
    refusal,
    ...(items === null ? {} : { items: mapItems(items, reopened(event.blockers)) }),
  };
  if (!event.counted) return work;
  const error = event.blockers.map((blocker) => blocker.message).join('; ');
  if (event.item === null) return { ...work, attempts: run.work.attempts + 1, failure: error };
  const item = run.work.items?.[event.item];
  const attempts = (item?.attempts ?? 0) + 1;
  if (attempts > 1) return withItem(work, event.item, { attempts, error, status: 'failed' }, 'holder');
  return withItem(work, event.item, { attempts, error, status: 'pending' });
}

/** Work is judged behind the fence: where it was, nothing is outside any more. */
function withOutside(work: PhaseWork, event: Extract<RunEvent, { type: 'phase_refused' }>): PhaseWork {
  if (event.outside !== undefined) return { ...work, outside: event.outside };
  if (!event.counted || work.outside === undefined) return work;
  const { outside: _, ...inside } = work;
  return inside;
}

function afterItemRefusal(
  run: Run,
  key: string,
  event: Extract<RunEvent, { type: 'phase_refused' }>,
): PhaseWork {
  const { blockers, counted, setAside } = event;
  const refusal = repeatedRefusal(run, blockers, key);
  const before = withOutside(run.work, event);
  if (setAside !== undefined)
    return withItem(before, key, { refusal, error: setAside, status: 'failed' }, 'holder');
  if (!counted) return withItem(before, key, { refusal });
  const error = blockers.map((blocker) => blocker.message).join('; ');
  const attempts = (run.work.items?.[key]?.attempts ?? 0) + 1;
  const change = { refusal, attempts, error };
  return attempts > 1
    ? withItem(before, key, { ...change, status: 'failed' }, 'holder')
    : withItem(before, key, { ...change, status: 'pending' });
}

/** The work with one item changed; `holder` where nobody holds it any more. */
export function withItem(work: PhaseWork, key: string, change: Partial<Item>, without?: 'holder'): PhaseWork {
  const item = work.items?.[key];
  if (item === undefined) throw new TypeError('there is no such item');
  // What was warned of belongs to the completion; an item that changes again is completed anew.
  const { warnings: _, ...kept } = without === undefined ? item : unheld(item);
  return { ...work, items: withOne(work.items as Items, key, { ...kept, ...change }) };
}

/** The work with nothing remembered of refusals of that item. */
export function withoutRefusal(work: PhaseWork, key: string): PhaseWork {
  const items = work.items ?? {};
  const item = items[key] as Item;
  return item.refusal === undefined ? work : { ...work, items: withOne(items, key, unrefused(item)) };
}

/** An item of which no refusal is remembered. */
export function unrefused({ refusal: _, ...item }: Item): Item {
  return item;
}

function unheld({ holder: _, ...item }: Item): Item {
  return item;
}

/** The items without what that agent holds of them. */
export function withoutHolder(items: Items, agent: string): Items {
  const holders = holdersOf(items);
  if (holders === undefined) {
    const held = standOf(items).byHolder.get(agent) ?? [];
    // One by one what is known of the items is known of the new ones too, and an agent seldom holds many.
    if (held.length <= FEW_HELD)
      return held.reduce((left, [key, item]) => withOne(left, key, unheld(item)), items);
    return mapItems(items, (item) => (item.holder === agent ? unheld(item) : item));
  }
  for (const key of [...(holders.get(agent) ?? [])]) changeOwned(items, key, unheld(items[key] as Item));
  return items;
}

/** An item that is given back, or whose agent was lost: too often, and it is set aside. */
export function afterItemRelease(run: Run, event: Extract<RunEvent, { type: 'item_released' }>): PhaseWork {
  if (event.cause === 'given_back') return withItem(run.work, event.item, {}, 'holder');
  const crashes = (run.work.items?.[event.item]?.crashes ?? 0) + 1;
  if (crashes <= reclaimsOf(run.workflow)) return withItem(run.work, event.item, { crashes }, 'holder');
  const error = `its agent was lost ${crashes} times`;
  return withItem(run.work, event.item, { crashes, status: 'failed', error }, 'holder');
}

const FEW_HELD = 4;

/** Every item changed alike. */
export function mapItems(
  items: Readonly<Record<string, Item>>,
  change: (item: Item) => Item,
): Readonly<Record<string, Item>> {
  return Object.fromEntries(Object.entries(items).map(([key, item]) => [key, change(item)]));
}

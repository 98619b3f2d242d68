import { databaseOf } from './databaseHash.ts';
import type { RunEvent } from './events.ts';
import type { Item } from './run.ts';
import { warned } from './warnings.ts';

/** What is absent is not written, so that an item looks the same whenever it was completed. */
export function itemDone(event: Extract<RunEvent, { type: 'item_completed' }>): Partial<Item> {
  const { evidence, outcome, held, word, wouldRefuse, letThrough, warnings, established } = event;
  return {
    status: 'completed',
    evidence,
    error: null,
    ...(outcome === undefined ? {} : { outcome }),
    ...(held === undefined ? {} : { state: held }),
    ...(word === undefined ? {} : { word }),
    ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    ...(letThrough === undefined ? {} : { letThrough }),
    ...warned(warnings),
    ...(established === undefined ? {} : { established }),
    ...databaseOf(event),
  };
}

/** An item as it was before it was completed, told why it is worked on again. */
export function reopened(blockers: readonly { readonly message: string }[]): (item: Item) => Item {
  const error = blockers.map(({ message }) => message).join('; ');
  return (item) =>
    item.status === 'completed'
      ? { status: 'pending', value: item.value, evidence: null, attempts: item.attempts, error }
      : item;
}

import { own } from '@phasegate/core';
import type { SeenRun, Store, TestRequest } from '../runtime/ports.ts';
import type { Beds } from './bed.ts';

/** Beds that tell of every run in them before they are closed; the same beds where nobody wants to know. */
export function observedBeds(beds: Beds, watching: Watching): Beds {
  if (watching.observe === undefined && watching.observeRefusedStart === undefined) return beds;
  return {
    make: async (found, options) => {
      const bed = await beds.make(found, options);
      return {
        ...bed,
        close: async () => {
          try {
            await tellRuns(bed.store, options.asGiven === true ? 'steps' : 'contract', watching);
          } finally {
            await bed.close();
          }
        },
      };
    },
  };
}

type Watching = Pick<TestRequest, 'observe' | 'observeRefusedStart'>;

async function tellRuns(store: Store, category: SeenRun['category'], watching: Watching): Promise<void> {
  for (const { run } of (await store.list({})).toReversed()) {
    const stored = await store.load(run);
    if (stored === undefined) continue;
    const records = await store.history(run, { after: 0, limit: -1 });
    watching.observe?.({ category, workflow: stored.run.workflow, records });
  }
  for (const { event, data } of await store.history(null, { after: 0, limit: -1 })) {
    if (event === 'start_refused') watching.observeRefusedStart?.(own(data, 'blockers') ?? [], category);
  }
}

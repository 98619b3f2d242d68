import type { EventRecord } from '@phasegate/wire';
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';
import type { Fresh } from '../api/keepFresh.ts';
import type { LiveState } from '../api/live.ts';

/** What keeps the pages fresh. */
export const FreshContext = createContext<Fresh | null>(null);

function useFresh(): Fresh {
  const fresh = useContext(FreshContext);
  if (fresh === null) throw new TypeError('nothing keeps this page fresh');
  return fresh;
}

/** How the stream of events is doing. */
export function useLiveState(): LiveState {
  const fresh = useFresh();
  return useSyncExternalStore(fresh.onState, fresh.state);
}

/** Calls back for every record while the component is shown. */
export function useRecords(listener: (record: EventRecord) => void): void {
  const fresh = useFresh();
  useEffect(() => fresh.onRecord(listener), [fresh, listener]);
}

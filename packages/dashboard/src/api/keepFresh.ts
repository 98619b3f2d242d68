import type { EventRecord } from '@phasegate/wire';
import type { QueryClient } from '@tanstack/react-query';
import { followEvents, type LiveState } from './live.ts';

/** What pages are told beside their own questions. */
export interface Fresh {
  state(): LiveState;
  /** Calls back when the state changes. */
  onState(listener: () => void): () => void;
  /** Calls back for every record. */
  onRecord(listener: (record: EventRecord) => void): () => void;
  stop(): void;
}

/** Has what is shown asked for again when something happens to it, at most a few times a second. */
export function keepFresh(client: QueryClient): Fresh {
  let state: LiveState = 'connecting';
  const stateListeners = new Set<() => void>();
  const recordListeners = new Set<(record: EventRecord) => void>();
  const stale = new Set<string>();
  let isMarked = false;

  function mark(...keys: readonly string[]): void {
    for (const key of keys) stale.add(key);
    if (isMarked) return;
    isMarked = true;
    setTimeout(() => {
      isMarked = false;
      const marked = [...stale];
      stale.clear();
      for (const key of marked) void client.invalidateQueries({ queryKey: JSON.parse(key) as unknown[] });
    }, TOGETHER_MS);
  }

  const stop = followEvents({
    record(record) {
      for (const listener of recordListeners) listener(record);
      const { run, event } = record;
      if (run !== null) mark(JSON.stringify(['run', run]));
      // Most records are calls of tools, which move no run.
      if (!QUIET.has(event)) mark('["runs"]', '["inbox"]', '["counts"]');
      if (run === null) mark('["project"]');
    },
    begun: () => void client.invalidateQueries(),
    state(next) {
      state = next;
      for (const listener of stateListeners) listener();
    },
  });

  return {
    state: () => state,
    onState(listener) {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    onRecord(listener) {
      recordListeners.add(listener);
      return () => recordListeners.delete(listener);
    },
    stop,
  };
}

const TOGETHER_MS = 250;
const QUIET = new Set(['tool_judged', 'tool_executed', 'hook_reported', 'token_issued', 'task_fetched']);

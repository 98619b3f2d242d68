import type { CallRecord, CallsOver, RunCalls } from '../runtime/ports.ts';

/** The tool calls under way in a store in memory. */
export interface MemoryCalls {
  of(run: string, item: string | null): RunCalls;
  begin(call: CallRecord): void;
  drop(run: string, id: string): void;
  askToEnd(run: string, ids: readonly string[]): void;
  /** Whether those are over that must be. */
  areOver(run: string, which: CallsOver): boolean;
}

/** Makes an empty one. */
export function createMemoryCalls(): MemoryCalls {
  let calls: readonly CallRecord[] = [];
  /** By run, then by item. */
  const counts = new Map<string, Map<string | null, number>>();

  function of(run: string, item: string | null): RunCalls {
    const under = calls.filter((call) => call.run === run && (item === null || call.item === item));
    const ofRun = counts.get(run) ?? new Map<string | null, number>();
    const begun =
      item === null ? [...ofRun.values()].reduce((sum, count) => sum + count, 0) : (ofRun.get(item) ?? 0);
    return { under: [...under].sort((one, other) => (one.id < other.id ? -1 : 1)), begun };
  }

  return {
    of,
    begin(call) {
      calls = [...calls, call];
      const ofRun = counts.get(call.run) ?? new Map<string | null, number>();
      counts.set(call.run, ofRun.set(call.item, (ofRun.get(call.item) ?? 0) + 1));
    },
    drop(run, id) {
      calls = calls.filter((call) => call.run !== run || call.id !== id);
    },
    askToEnd(run, ids) {
      calls = calls.map((call) =>
        call.run === run && ids.includes(call.id) ? { ...call, ending: true } : call,
      );
    },
    areOver(run, which) {
      const { under, begun } = of(run, which.item);
      if (which.begun !== undefined && which.begun !== begun) return false;
      return under.every(({ id }) => which.void.includes(id));
    },
  };
}

import type { Run, ToolUse, Verdict } from '@phasegate/core';

/** Counts how often the same call of a run is refused in the same words, one after the other. */
export interface RepeatedDenials {
  /** Takes note of a verdict; says why a human has to look at the run, once that is so. */
  heard(run: Run, use: ToolUse, verdict: Verdict): string | null;
}

/** So often the same denial is given; an agent that asks on has not understood it, and never will by itself. */
export const SAME_DENIALS = 10;

/** Builds it. It counts in this process: an agent that is served by several is given as many denials by each. */
export function createRepeatedDenials(): RepeatedDenials {
  const counts = new Map<string, { readonly denial: string; readonly times: number }>();
  return {
    heard(run, use, verdict) {
      if (verdict.allowed) {
        counts.delete(run.id);
        return null;
      }
      const [{ code, message }] = verdict.blockers;
      const denial = [run.epoch, use.tool, code, message].join('\0');
      const before = counts.get(run.id);
      const times = before?.denial === denial ? before.times + 1 : 1;
      // The one that was asked about longest ago makes room.
      counts.delete(run.id);
      counts.set(run.id, { denial, times });
      const [oldest] = counts.keys();
      if (counts.size > MOST_RUNS && oldest !== undefined) counts.delete(oldest);
      if (times < SAME_DENIALS) return null;
      counts.delete(run.id);
      return `\`${use.tool}\` was refused ${times} times running for the same reason: ${message}`;
    },
  };
}

const MOST_RUNS = 10_000;

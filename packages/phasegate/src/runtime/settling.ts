import { setTimeout as pause } from 'node:timers/promises';
import type { Toolbox } from './ports.ts';

/** A toolbox that knows what it is carrying out. */
export interface Settling {
  readonly toolbox: Toolbox;
  /** Waits until all that is under way is written down, not for longer than a while. */
  settled(): Promise<void>;
}

/** INVARIANT: who ends in good order leaves no call behind that others would have to wait for. */
export function settling(toolbox: Toolbox): Settling {
  const underWay = new Set<Promise<unknown>>();
  return {
    toolbox: {
      ...toolbox,
      execute(admitted, calls) {
        const work = toolbox.execute(admitted, calls);
        underWay.add(work);
        const over = () => void underWay.delete(work);
        work.then(over, over);
        return work;
      },
    },
    async settled() {
      if (underWay.size === 0) return;
      const late = new AbortController();
      await Promise.race([
        Promise.allSettled(underWay),
        pause(LONGEST_MS, undefined, { signal: late.signal }).catch(() => undefined),
      ]);
      late.abort();
    },
  };
}

/** Programs have a moment to end themselves before they are killed, and what they did is written after that. */
const LONGEST_MS = 10_000;

import { nextChange } from './nextChange.ts';
import { type Driving, isStillOpen, type StepAtWork } from './parts.ts';

/** What the agent of a step is followed by. */
export interface VisitWatch {
  /** Aborted when what the step works on is no longer open. */
  readonly ended: AbortSignal;
  stop(): void;
}

/**
 * Watches for the end of the visit that a step is for. An agent in a sandbox ends with it: its sandbox may write what
 * that phase may write, and the run is in another one then.
 */
export function untilVisitEnds({ request }: Driving, step: StepAtWork): VisitWatch {
  const ended = new AbortController();
  const over = new AbortController();
  const watch = async () => {
    while (!over.signal.aborted) {
      // Taken before looking: what happens between looking and listening must not be missed.
      const after = await request.open.feed.newest();
      if (!isStillOpen(await request.open.load(step.run.id), step)) return ended.abort();
      await nextChange(request, after, over.signal);
    }
  };
  // A store that cannot be read says so to the one who submits next.
  watch().catch(() => undefined);
  return { ended: ended.signal, stop: () => over.abort() };
}

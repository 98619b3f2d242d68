import type { PhaseId } from '../model/workflow.ts';
import { over } from './history.ts';
import type { Established, Run } from './run.ts';

/** What the engine established in a phase by running something. */
export interface Proven extends Omit<Established, 'frozen'> {
  readonly phase: PhaseId;
}

/** What the engine established in a run by running something, oldest first: of each phase as it was last completed. */
export function provenIn(run: Run): readonly Proven[] {
  const waits = run.status === 'waiting' && run.wait.for === 'gate';
  const waiting = waits ? ([[run.phase, run.wait.established ?? []]] as const) : [];
  const before = [...newestEstablished(run)].filter(([phase]) => !waits || phase !== run.phase);
  return [...before, ...waiting].flatMap(([phase, list]) =>
    list.map(({ frozen: _, ...one }): Proven => ({ phase, ...one })),
  );
}

/** Kept with the completions: every view asks, however many there are. */
const newestEstablished = over<Map<PhaseId, readonly Established[]>>({
  begin: (like) => new Map(like),
  add(newest, { phase, established = [] }) {
    newest.delete(phase);
    newest.set(phase, established);
  },
});

import type { PhaseId } from '../model/workflow.ts';
import type { Established, Run } from './run.ts';

/** What the engine established in a phase by running something. */
export interface Proven extends Omit<Established, 'frozen'> {
  readonly phase: PhaseId;
}

/** What the engine established in a run by running something, oldest first: of each phase as it was last completed. */
export function provenIn(run: Run): readonly Proven[] {
  const newest = new Map<PhaseId, readonly Established[]>();
  for (const { phase, established = [] } of run.completions) {
    newest.delete(phase);
    newest.set(phase, established);
  }
  if (run.status === 'waiting' && run.wait.for === 'gate') {
    newest.delete(run.phase);
    newest.set(run.phase, run.wait.established ?? []);
  }
  return [...newest].flatMap(([phase, list]) =>
    list.map(({ frozen: _, ...one }): Proven => ({ phase, ...one })),
  );
}

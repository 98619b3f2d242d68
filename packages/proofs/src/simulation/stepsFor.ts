import { DEFAULT_VISITS, edgesOf, type Workflow } from '@phasegate/core/model';

/** Steps after which a run is given up at the earliest, where nobody says. */
export const DEFAULT_STEPS = 300;

/**
 * Steps that a run may need: as many as the phases and loops of its workflow ask for. A run that takes more goes round
 * without end, as far as can be told without waiting for it.
 */
export function stepsFor({ phases }: Workflow): number {
  const places = new Map(phases.map(({ id }, place) => [id, place]));
  const again = phases.flatMap(edgesOf).reduce((sum, { from, to, max }) => {
    const span = to === null ? 0 : (places.get(from) ?? 0) - (places.get(to) ?? 0) + 1;
    // Each time a loop is closed, all its phases are visited again.
    return span <= 0 ? sum : sum + (max ?? DEFAULT_VISITS) * span;
  }, 0);
  return Math.min(MOST_STEPS, Math.max(DEFAULT_STEPS, (phases.length + again) * STEPS_OF_A_VISIT));
}

/** Two attempts, a human who gives the run back, and a decision at the gate. */
const STEPS_OF_A_VISIT = 4;

/** A thousand runs of as many steps are a matter of minutes; more would not be waited for. */
const MOST_STEPS = 100_000;

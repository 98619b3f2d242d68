import { edgesOf, type Phase, phaseById, type Workflow } from '@phasegate/core/model';

/** The nearest wanted phase after one, not looking past those that stop the search; null where there is none. */
export function firstWithout(
  workflow: Workflow,
  from: Phase,
  search: { readonly stop: (phase: Phase) => boolean; readonly wanted: (phase: Phase) => boolean },
): Phase | null {
  const seen = new Set([from.id]);
  const open = [from];
  for (let phase = open.shift(); phase !== undefined; phase = open.shift()) {
    for (const { to } of edgesOf(phase)) {
      const next = phaseById(workflow, to);
      if (next === undefined || seen.has(next.id)) continue;
      seen.add(next.id);
      if (search.stop(next)) continue;
      if (search.wanted(next)) return next;
      open.push(next);
    }
  }
  return null;
}

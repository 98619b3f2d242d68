import {
  coveredBy,
  declaredNames,
  edgesOf,
  isOwned,
  type Phase,
  type PhaseId,
  type Property,
  phaseById,
  type Workflow,
} from '@phasegate/core/model';

/** What has a mark of its own: a phase, or the human gate of one phase, as a gate may stand behind several. */
export type Marked =
  | { readonly kind: 'phase'; readonly phase: PhaseId }
  | { readonly kind: 'gate'; readonly gate: string; readonly phase: PhaseId };

/** By phase as text, the places of the gates that cover something the phase declares too. */
export function changersOf(
  workflow: Workflow,
  marked: readonly Marked[],
): ReadonlyMap<string, readonly number[]> {
  const changed = new Map<string, number[]>();
  marked.forEach((one, place) => {
    const gated = one.kind === 'gate' ? phaseById(workflow, one.phase) : undefined;
    if (gated === undefined) return;
    const covered = coveredBy(gated).filter((name) => !isOwned(workflow, name));
    for (const phase of workflow.phases) {
      if (phase === gated || !declaredNames(phase).some((name) => covered.includes(name))) continue;
      const id = String(phase.id);
      changed.set(id, [...(changed.get(id) ?? []), place]);
    }
  });
  return changed;
}

/**
 * By phase as text, the marks that can still matter there. What is marked of a gate is forgotten when its phase is
 * entered again, so where every way to what asks for it leads through that phase it says nothing any more.
 */
export function liveIn(
  workflow: Workflow,
  marked: readonly Marked[],
  promises: readonly { readonly kind: Property['kind']; readonly of: readonly (readonly number[])[] }[],
): ReadonlyMap<string, ReadonlySet<number>> {
  const live = new Map<string, Set<number>>(workflow.phases.map(({ id }) => [String(id), new Set()]));
  marked.forEach((one, place) => {
    const readers = readersOf(marked, place, promises);
    const through = one.kind === 'gate' ? one.phase : null;
    for (const id of readers === 'all' ? live.keys() : leadingTo(workflow, readers, through))
      live.get(id)?.add(place);
  });
  return live;
}

/** Where a mark is asked for: phases, and null for the end; `all` where that cannot be said. */
function readersOf(
  marked: readonly Marked[],
  place: number,
  promises: Parameters<typeof liveIn>[2],
): ReadonlySet<PhaseId | null> | 'all' {
  const readers = new Set<PhaseId | null>();
  for (const { kind, of } of promises) {
    if (!of.some((group) => group.includes(place))) continue;
    if (kind === 'never') return 'all';
    if (kind === 'always') readers.add(null);
    else
      of.slice(1).forEach((group, position) => {
        if (of[position]?.includes(place)) for (const next of group) readers.add(marked[next]?.phase ?? null);
      });
  }
  return readers;
}

/** Phases, as text, from which one of these is reached without entering that one; itself and they included. */
function leadingTo(
  workflow: Workflow,
  wanted: ReadonlySet<PhaseId | null>,
  without: PhaseId | null,
): ReadonlySet<string> {
  const ends = (phase: Phase) => edgesOf(phase).some(({ to }) => wanted.has(to));
  const found = new Set(
    workflow.phases.filter((phase) => wanted.has(phase.id) || ends(phase)).map(({ id }) => id),
  );
  for (const id of found) {
    // What comes before the phase itself enters it, and is then asked anew.
    if (id === without) continue;
    for (const phase of workflow.phases) if (edgesOf(phase).some(({ to }) => to === id)) found.add(phase.id);
  }
  return new Set([...found].map(String));
}

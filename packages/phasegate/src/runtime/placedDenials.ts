import { type Json, own, type Run, type Verdict, type Workflow } from '@phasegate/core';
import { placeOfRule } from '@phasegate/core/model';
import type { Store } from './ports.ts';

/** The verdict with the file and line of each rule that refuses, as they were when the run got its workflow. */
export async function withPlaces<V extends Verdict>(
  store: Pick<Store, 'history'>,
  run: Run,
  verdict: V,
): Promise<V> {
  const isAbout = verdict.allowed ? verdict.wouldRefuse : verdict.blockers;
  if (isAbout === undefined || isAbout.every(({ rule }) => rule === undefined)) return verdict;
  return placed(verdict, run.workflow, await placesOf(store, run));
}

/** The same, where the places are at hand. */
export function placed<V extends Verdict>(verdict: V, workflow: Workflow, places: Json | undefined): V {
  if (places === undefined) return verdict;
  const told = (found: Found): Found => {
    const at = found.rule === undefined ? null : placeOfRule(workflow, places, found.rule);
    return found.rule === undefined || at === null ? found : { ...found, rule: { ...found.rule, at } };
  };
  if (!verdict.allowed) return { ...verdict, blockers: verdict.blockers.map(told) };
  const { wouldRefuse } = verdict;
  return wouldRefuse === undefined ? verdict : { ...verdict, wouldRefuse: wouldRefuse.map(told) };
}

type Found = (Verdict & { readonly allowed: false })['blockers'][number];

/** INVARIANT: lines of another workflow are never told: only what came with the very one the run has. */
async function placesOf(store: Pick<Store, 'history'>, { id, workflowHash }: Run): Promise<Json | undefined> {
  let places: Json | undefined;
  for (let after = 0; ; ) {
    const page = await store.history(id, { after, limit: after === 0 ? 1 : PAGE });
    for (const { event, data } of page)
      if (BRINGS_A_WORKFLOW.has(event) && own(data, 'workflowHash') === workflowHash)
        places = own(data, 'places');
    const last = page.at(-1);
    // As a rule the first record has them, and the rest need not be read.
    if (last === undefined || (after === 0 && places !== undefined) || (after > 0 && page.length < PAGE))
      return places;
    after = last.seq;
  }
}

const BRINGS_A_WORKFLOW: ReadonlySet<string> = new Set(['run_started', 'run_migrated']);
const PAGE = 1000;

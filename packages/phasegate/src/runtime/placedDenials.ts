import { type Json, own, type Run, type Verdict, type Workflow } from '@phasegate/core';
import { placeOfRule } from '@phasegate/core/model';
import type { Store } from './ports.ts';

/** Tells where the rules stand that refuse something. */
export interface PlacedDenials {
  /** The verdict with the file and line of each rule that refuses, as they were when the run got its workflow. */
  withPlaces<V extends Verdict>(run: Run, verdict: V): Promise<V>;
}

/**
 * Makes one for a store. An agent that is refused is often refused again in the same phase: places are read once for each
 * phase of a run, and those of a few runs are remembered.
 */
export function createPlacedDenials(store: Pick<Store, 'history'>): PlacedDenials {
  const remembered = new Map<string, Promise<Json | undefined>>();

  function read(run: Run): Promise<Json | undefined> {
    const key = `${run.id} ${run.epoch} ${run.workflowHash}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const reading = placesOf(store, run);
    remembered.set(key, reading);
    reading.catch(() => remembered.delete(key));
    for (const oldest of remembered.keys()) {
      if (remembered.size <= MOST_REMEMBERED) break;
      remembered.delete(oldest);
    }
    return reading;
  }

  return {
    async withPlaces(run, verdict) {
      const isAbout = verdict.allowed ? verdict.wouldRefuse : verdict.blockers;
      if (isAbout === undefined || isAbout.every(({ rule }) => rule === undefined)) return verdict;
      return placed(verdict, run.workflow, await read(run));
    },
  };
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
const MOST_REMEMBERED = 200;

import { type Json, own, type Run } from '@phasegate/core';
import { wholeLength, withoutParts, withPlacesOf } from './cutText.ts';
import { itemsFrom, stateIn } from './itemSteps.ts';
import { digestOf } from './runSeal.ts';
import { COMPLETION, DECISION } from './runSteps.ts';
import { NO_SUMS, type StepSums, type StepText, withStep } from './stepSums.ts';

/** The texts of a run as they are stored. */
export interface TextsOfRun {
  /** What its row says of it beside its state. */
  readonly named: Pick<Run, 'id' | 'workflowHash'>;
  readonly state: string;
  /** Oldest first. */
  readonly steps: readonly StepText[];
  /** The whole of a stored text, or null where a part of it is missing or was changed. */
  whole(stored: string): string | null;
}

/** A run as its texts make it, with what its seal covers and its next write needs. */
export interface ReadRun extends StepSums {
  /** Null where the texts make none. */
  readonly run: Omit<Run, 'workflow'> | null;
  readonly digest: string;
  readonly stateLength: number;
  readonly itemsApart: boolean;
}

/** Makes a run from its texts; nobody has looked at its seal yet. */
export function readTexts(texts: TextsOfRun): ReadRun {
  const { state, itemsApart } = stateIn(texts.state);
  const sums = texts.steps.reduce(withStep, NO_SUMS);
  return {
    ...sums,
    run: runOf(texts),
    digest: digestOf(texts.state),
    places: withPlacesOf(sums.places, state),
    stateLength: wholeLength(state),
    itemsApart,
  };
}

/**
 * The measures of the workspace that a stored state has. No measure is large, so none stands elsewhere. Throws where the
 * state cannot be read: a measure that nobody is known to have would be dropped.
 */
export function treesIn(stored: string): readonly string[] {
  const state = JSON.parse(withoutParts(stateIn(stored).state)) as Json;
  return ['work', 'wait'].flatMap((part) => {
    const tree = own(own(state, part) ?? null, 'tree');
    return typeof tree === 'string' ? [tree] : [];
  });
}

function runOf({ named, state: stored, steps, whole }: TextsOfRun): ReadRun['run'] {
  const { state, itemsApart } = stateIn(stored);
  // Where a part is missing, this is not JSON, and so not a run.
  const list = (kind: number) => {
    const texts = steps.filter((step) => step.kind === kind).map(({ text }) => whole(text) ?? '!');
    return JSON.parse(`[${texts.join(',')}]`);
  };
  try {
    const text = whole(state);
    if (text === null) return null;
    const added = { completions: list(COMPLETION), decisions: list(DECISION) };
    const run = { ...named, ...(JSON.parse(text) as object), ...added } as Omit<Run, 'workflow'>;
    return itemsApart ? { ...run, work: { ...run.work, items: itemsFrom(steps, whole) } } : run;
  } catch {
    return null;
  }
}

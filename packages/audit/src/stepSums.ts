import { wholeLength, withPlacesOf } from './cutText.ts';
import { CHANGED_ITEMS, ITEMS, type ItemLengths } from './itemSteps.ts';
import { NO_STEPS, nextDigest } from './runHistory.ts';

/** A step as it is stored, with places of its large values. */
export interface StepText {
  readonly kind: number;
  readonly text: string;
}

/** What a run's steps come to, as far as its next write needs it. */
export interface StepSums extends ItemLengths {
  /** The digest over them. */
  readonly steps: string;
  /** Of large values in the newest of them, by their digests. */
  readonly places: ReadonlyMap<string, string>;
  /** Characters of those that the run is made from. */
  readonly stepsLength: number;
}

/** The sums over no steps. */
export const NO_SUMS: StepSums = {
  steps: NO_STEPS,
  places: new Map(),
  stepsLength: 0,
  itemsLength: 0,
  changesLength: 0,
};

/** The sums with one more step. */
export function withStep(sums: StepSums, step: StepText): StepSums {
  const { kind, text } = step;
  const length = wholeLength(text);
  const isWhole = kind === ITEMS;
  const superseded = isWhole ? sums.itemsLength + sums.changesLength : 0;
  return {
    steps: nextDigest(sums.steps, step),
    places: withPlacesOf(sums.places, text),
    stepsLength: sums.stepsLength - superseded + length,
    itemsLength: isWhole ? length : sums.itemsLength,
    changesLength: isWhole ? 0 : sums.changesLength + (kind === CHANGED_ITEMS ? length : 0),
  };
}

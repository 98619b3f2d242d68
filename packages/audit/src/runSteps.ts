import type { Json, Run } from '@phasegate/core';
import { type CutText, type Cutter, type Part, withPlaces } from './cutText.ts';
import {
  type CHANGED_ITEMS,
  cutItems,
  type ITEMS,
  type RunBefore,
  standApart,
  withoutItems,
} from './itemSteps.ts';
import type { PreparedWrite } from './preparedWrite.ts';
import { addedTo } from './runHistory.ts';

/** A step of a run. A large value has none: whatever it is a part of refers to it. */
export type StepKind = typeof COMPLETION | typeof DECISION | typeof ITEMS | typeof CHANGED_ITEMS;

/** A completion of a run. */
export const COMPLETION = 1;
/** A human's decision in a run. */
export const DECISION = 2;

/** The texts of a run that is to be written: its state, and what is new of its history. */
export interface CutRun {
  readonly state: CutText;
  /** Whether its items stand in its steps rather than in its state. */
  readonly itemsApart: boolean;
  readonly steps: readonly { readonly kind: StepKind; readonly cut: CutText }[];
}

/** The text of its state to be stored. */
export function storedState({ state, itemsApart }: CutRun, placeOf: (part: Part) => string): string {
  const text = withPlaces(state, placeOf);
  return itemsApart ? withoutItems(text) : text;
}

/** The texts of a run that was stored as `before`. Throws `internal` where something was taken away. */
export function cutRun(
  { cutter, state }: Pick<PreparedWrite, 'cutter' | 'state'>,
  before: RunBefore | undefined,
  run: Run,
): CutRun {
  const itemsApart = standApart(run);
  const items = itemsApart ? cutItems(cutter, before, run) : [];
  return { state, itemsApart, steps: [...cutSteps(cutter, before?.run, run), ...items] };
}

/** What was added to a run since it was last stored. Throws `internal` where something was taken away. */
export function cutSteps(cutter: Cutter, before: Run | undefined, run: Run): CutRun['steps'] {
  const decisions = addedTo(before?.decisions ?? [], run.decisions, 'decisions');
  const completions = addedTo(before?.completions ?? [], run.completions, 'completions');
  const of = (kind: StepKind) => (one: object) => ({ kind, cut: cutter.json(one as unknown as Json) });
  return [...decisions.map(of(DECISION)), ...completions.map(of(COMPLETION))];
}

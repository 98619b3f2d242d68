import type { Json, Run } from '@phasegate/core';
import type { CutText, Cutter } from './cutText.ts';
import { addedTo } from './runHistory.ts';

/** A step of a run. A large value has none: whatever it is a part of refers to it. */
export type StepKind = typeof COMPLETION | typeof DECISION;

/** A completion of a run. */
export const COMPLETION = 1;
/** A human's decision in a run. */
export const DECISION = 2;

/** The texts of a run that is to be written: its state, and what is new of its history. */
export interface CutRun {
  readonly state: CutText;
  readonly steps: readonly { readonly kind: StepKind; readonly cut: CutText }[];
}

/** What was added to a run since it was last stored. Throws `internal` where something was taken away. */
export function cutSteps(cutter: Cutter, before: Run | undefined, run: Run): CutRun['steps'] {
  const decisions = addedTo(before?.decisions ?? [], run.decisions, 'decisions');
  const completions = addedTo(before?.completions ?? [], run.completions, 'completions');
  const of = (kind: StepKind) => (one: object) => ({ kind, cut: cutter.json(one as unknown as Json) });
  return [...decisions.map(of(DECISION)), ...completions.map(of(COMPLETION))];
}

import type { Seal } from '@phasegate/core/ports';
import { type HeadSum, headWeight, weightOfDifference } from './headSum.ts';

/** Whether two sums differ by the head of that run alone, whatever it was: all other heads are the same then. */
export function isExplainedBy(
  seal: Seal,
  runId: string,
  [signed, found]: readonly [HeadSum, HeadSum],
): boolean {
  return weightOfDifference(signed, found) === headWeight(seal, runId);
}

/** What came of a phase. */
export type Outcome = 'ok' | 'fail' | 'skip' | 'iterate';

/** Every outcome, in the order they are documented. */
export const OUTCOMES: readonly Outcome[] = ['ok', 'fail', 'skip', 'iterate'];

/** Those that an agent may report; the others are for handlers to say. */
export const REPORTED_OUTCOMES: readonly Outcome[] = OUTCOMES.filter((outcome) => outcome !== 'skip');

/**
 * How a visit of a phase ended: as its outcome says, by a human's choice that does not approve, because nobody chose in
 * time, or because a human broke the glass. INVARIANT: the last three pass nothing and give no name a value.
 */
export type Ending = Outcome | 'rejected' | 'expired' | 'overridden';

/** Whether the work of a visit was let pass: not by a no, nor by time, nor by an override. */
export function isPassed(outcome: Ending): boolean {
  return outcome !== 'rejected' && outcome !== 'expired' && outcome !== 'overridden';
}

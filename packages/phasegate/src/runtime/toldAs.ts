import type { Submitted, Verdict } from '@phasegate/core';

/** What came of a submission, with another verdict. View and outcome are still made when they are read, if ever. */
export function toldAs(submitted: Submitted, verdict: Verdict): Submitted {
  return {
    verdict,
    get view() {
      return submitted.view;
    },
    get outcome() {
      return submitted.outcome;
    },
  };
}

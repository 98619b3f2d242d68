import { COMPLETION, NO_SUMS, tampered, withStep } from '@phasegate/audit';
import { PhasegateError, type Run } from '@phasegate/core';
import type { LinkedStep, TextTable } from './textTable.ts';

/** Where the history of a run stands, as far as the run had come when it was read and found to be sealed so. */
export interface HistoryPlace {
  readonly id: string;
  readonly key: number;
  readonly lastStep: number | null;
  /** The digest over all steps, which its seal covered. */
  readonly steps: string;
}

/** Reads what runs are kept without. */
export interface StoredHistory {
  /** Gives the completions of a run one by one; the small texts they refer from are read once while somebody asks. */
  of(place: HistoryPlace): (index: number) => Run['completions'][number];
}

/** Opens it over the table of texts; `keyOf` gives the number a run has now. */
export function openStoredHistory(
  texts: Pick<TextTable, 'steps' | 'whole'>,
  keyOf: (id: string) => number | undefined,
): StoredHistory {
  /** INVARIANT: what is read is what was sealed: the steps by their digest, and a large value by its own where it stands. */
  function sealedSteps({ id, key, lastStep, steps: digest }: HistoryPlace): readonly LinkedStep[] {
    const steps = texts.steps(lastStep);
    if (steps.reduce(withStep, NO_SUMS).steps !== digest) {
      // Numbers of texts are given again once a run was archived.
      throw keyOf(id) === key ? tampered(`run \`${id}\``) : goneMeanwhile(id);
    }
    return steps.filter(({ kind }) => kind === COMPLETION);
  }

  return {
    of(place) {
      let known: WeakRef<readonly LinkedStep[]> | undefined;
      return (index) => {
        try {
          const steps = known?.deref() ?? sealedSteps(place);
          known = new WeakRef(steps);
          const step = steps[index];
          const whole = step === undefined ? null : texts.whole(step.text);
          if (whole === null) throw tampered(`run \`${place.id}\``);
          return JSON.parse(whole) as Run['completions'][number];
        } catch (error) {
          // Asked by the one who has the run, wherever that is: the store may be closed by then.
          if (error instanceof PhasegateError) throw error;
          const message = `run \`${place.id}\` cannot be read to its end any more`;
          throw new PhasegateError('store_unavailable', message, { cause: error });
        }
      };
    },
  };
}

function goneMeanwhile(id: string): PhasegateError {
  return new PhasegateError('run_changed', `run \`${id}\` was taken away while it was looked at`);
}

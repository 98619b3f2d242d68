import { PhasegateError, type Run } from '@phasegate/core';

/** So many rounds without any change of the run are a fault, and no reason to go on trying. */
const IDLE_ROUNDS = 5;

/** Notices what does not move, and what was waited for. */
export class Pace {
  #last = '';
  #idle = 0;
  #shown = '';
  #workflowHash = '';

  /** Whether a waiting run was not shown yet as it is now. */
  isNew(run: Run): boolean {
    const state = `${stateOf(run)} ${run.updatedAt}`;
    const fresh = state !== this.#shown;
    this.#shown = state;
    return fresh;
  }

  /** Whether the run was waiting when it was last looked at. */
  hasWaited(): boolean {
    return this.#shown !== '';
  }

  /**
   * Whether this is the first step, or the first under its workflow; called before each. INVARIANT: every step changes the run, or the runner stops.
   * It never turns in circles.
   */
  isFirst(run: Run): boolean {
    const state = stateOf(run);
    this.#idle = state === this.#last ? this.#idle + 1 : 0;
    this.#last = state;
    this.#shown = '';
    if (this.#idle >= IDLE_ROUNDS) {
      throw new PhasegateError('run_changed', `run \`${run.id}\` does not move in phase \`${run.phase}\``, {
        hint: `phasegate status ${run.id}`,
      });
    }
    const first = run.workflowHash !== this.#workflowHash;
    this.#workflowHash = run.workflowHash;
    return first;
  }
}

/** What every step and every human's act changes something of. */
export function stateOf({ status, epoch, phase, work }: Run): string {
  return JSON.stringify([status, epoch, phase, work]);
}

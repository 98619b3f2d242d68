import { type Blocker, PhasegateError } from '@phasegate/core';

/** Whether a call was refused for its token: that it is not good any more, or that the run has moved on. */
export function isDead(error: unknown): error is PhasegateError {
  return error instanceof PhasegateError && DEAD.has(error.code);
}

/** Why the rest of a batch is not carried out, and what to do about it. */
export function outlived({ code, message }: PhasegateError): Blocker {
  const isMoved = code === 'token_dead' || code === 'run_changed';
  const why = isMoved ? 'the run has moved on since this token was given' : message;
  return {
    code: 'not_your_run',
    message: `${why}, so the rest of the batch is not carried out`,
    nextAction: { act: 'claim', text: 'take a fresh token for the run and look at its phase' },
  };
}

const DEAD: ReadonlySet<string> = new Set(['token_dead', 'token_expired', 'token_invalid', 'run_changed']);

import type { Blocker, BlockerCode, RunView, Verdict } from '@phasegate/core';
import type { StartedRun } from './answers.ts';
import { encodeBlockers, type WireBlocker } from './blockers.ts';
import { type Dialect, PLAIN, spellNext } from './nextCall.ts';
import { encodeLeniency } from './submitted.ts';

/** A run that was made. */
export function encodeStarted(view: RunView, verdict: Verdict, dialect: Dialect): StartedRun {
  const { run, workflow, status, phase, ring, trusted } = view;
  return {
    run,
    workflow,
    status,
    phase,
    ring,
    trusted,
    next_action: spellNext(view, dialect),
    ...encodeLeniency(verdict, view, dialect),
  };
}

/** The refusal of a run that was not made. */
export type NotStarted = {
  readonly error: BlockerCode;
  readonly message: string;
  readonly blockers: readonly WireBlocker[];
  readonly next_action: string;
};

/** What no other argument puts right: the way on is the engine's own. */
const ELSEWHERE: ReadonlySet<BlockerCode> = new Set<BlockerCode>(['capability_missing', 'run_exists']);

/** The refusal of a run that was not made; `again` is the same call with what is wrong corrected. */
export function encodeNotStarted(
  blockers: readonly [Blocker, ...Blocker[]],
  again: string,
  { steps }: Pick<Dialect, 'steps'>,
): NotStarted {
  const encoded = blockers.map((blocker) => {
    const [wire] = encodeBlockers([blocker], { run: '' }, { ...PLAIN, steps }) as [WireBlocker];
    return ELSEWHERE.has(blocker.code) ? wire : { ...wire, next_action: again };
  });
  const [first] = encoded as [WireBlocker];
  return {
    error: blockers[0].code,
    message: blockers.map(({ message }) => message).join('; '),
    blockers: encoded,
    next_action: first.next_action,
  };
}

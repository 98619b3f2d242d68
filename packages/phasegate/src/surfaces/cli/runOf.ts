import { PhasegateError, type Principal } from '@phasegate/core';
import { isRunId } from '@phasegate/core/contract';
import type { Among, HumanAndRun } from './chooseRun.ts';
import type { Invocation } from './command.ts';
import { LOCAL_AGENT, unlockHuman } from './unlockHuman.ts';
import { usageError } from './usage.ts';

/** The run a command is about, of those the caller may see: by its id, the beginning of it, or as the only one. */
export async function runOf(invocation: Invocation, caller: Principal, among: Among): Promise<string> {
  const word = invocation.args.positionals[0] ?? '';
  if (isRunId(word)) return word;
  const { chooseRun } = await import('./chooseRun.ts');
  return chooseRun(invocation, caller, { word, among }).catch((error: unknown) =>
    withTheWayOn(invocation, { caller, word, error }),
  );
}

/** The whole id for the beginning of one; what is not the beginning of any stays as it is. */
export async function wholeRun(invocation: Invocation, caller: Principal, word: string): Promise<string> {
  if (isRunId(word)) return word;
  const { runByPrefix } = await import('./chooseRun.ts');
  return (await runByPrefix((await invocation.reach()).as(caller), word))?.run ?? word;
}

/** The same for a human, who sees which run it is before they give their passphrase. */
export async function humanAndRun(invocation: Invocation, among: Among): Promise<HumanAndRun> {
  const word = invocation.args.positionals[0] ?? '';
  if (isRunId(word)) return { human: await unlockHuman(invocation), runId: word };
  const { chooseWithHuman } = await import('./chooseRun.ts');
  return chooseWithHuman(invocation, { word, among }).catch((error: unknown) =>
    withTheWayOn(invocation, { caller: LOCAL_AGENT, word, error }),
  );
}

interface NotChosen {
  readonly caller: Principal;
  readonly word: string;
  readonly error: unknown;
}

/** Where RUN was left out: how to begin in a project that has no run yet, and how to name one where none is listed. */
async function withTheWayOn(invocation: Invocation, { caller, word, error }: NotChosen): Promise<never> {
  if (word !== '' || !(error instanceof PhasegateError) || error.code !== 'usage') throw error;
  if (invocation.server !== null) {
    if (error.hint !== undefined) throw error;
    throw usageError(
      error.message,
      'give the id that `phasegate start` or `phasegate claim` printed, or set PHASEGATE_RUN',
    );
  }
  const open = await invocation.open();
  // Runs of other agents are not seen by this one.
  const some = (await open.as(caller).runs({ limit: 1 })).length > 0 || (await open.agents.list()).length > 0;
  if (some) throw error;
  throw usageError(
    error.message,
    'start one with `phasegate start WORKFLOW "GOAL"`; `phasegate list` shows the workflows',
  );
}

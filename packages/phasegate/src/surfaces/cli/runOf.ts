import type { Principal } from '@phasegate/core';
import type { Among, HumanAndRun } from './chooseRun.ts';
import type { Invocation } from './command.ts';
import { unlockHuman } from './unlockHuman.ts';

/** An id as it is made. Anything else may be the beginning of one, and has to be looked for. */
const WHOLE = /^run-[0-9a-f]{20}$/;

/** The run a command is about, of those the caller may see: by its id, the beginning of it, or as the only one. */
export async function runOf(invocation: Invocation, caller: Principal, among: Among): Promise<string> {
  const word = invocation.args.positionals[0] ?? '';
  if (WHOLE.test(word)) return word;
  const { chooseRun } = await import('./chooseRun.ts');
  return chooseRun(invocation, caller, { word, among });
}

/** The whole id for the beginning of one; what is not the beginning of any stays as it is. */
export async function wholeRun(invocation: Invocation, caller: Principal, word: string): Promise<string> {
  if (WHOLE.test(word)) return word;
  const { runByPrefix } = await import('./chooseRun.ts');
  return (await runByPrefix((await invocation.reach()).as(caller), word))?.run ?? word;
}

/** The same for a human, who sees which run it is before they give their passphrase. */
export async function humanAndRun(invocation: Invocation, among: Among): Promise<HumanAndRun> {
  const word = invocation.args.positionals[0] ?? '';
  if (WHOLE.test(word)) return { human: await unlockHuman(invocation), runId: word };
  const { chooseWithHuman } = await import('./chooseRun.ts');
  return chooseWithHuman(invocation, { word, among });
}

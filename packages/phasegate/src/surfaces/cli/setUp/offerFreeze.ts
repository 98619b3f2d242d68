import { oneLine } from '@phasegate/core/model';
import type { UnlockedHuman, Unverified } from '../../../runtime/ports.ts';
import type { Invocation } from '../command.ts';
import { working } from '../showWork.ts';
import { andFiles, localFilesOf, localPackagesLine } from '../text/localPackages.ts';

/** Whether what the engine runs here is `verified`, and if not, what is missing and what to do. */
export interface Verifiable {
  readonly verified: boolean;
  readonly missing: string | null;
  readonly next: string | null;
}

const FREEZE = 'phasegate deps freeze';
const ALL: Verifiable = { verified: true, missing: null, next: null };

/**
 * Why tests would not be verified here even with frozen dependencies, as one clause with its code and its phases; null
 * where nothing stands in the way.
 */
export function lackingIn(found: readonly Unverified[]): Lacking | null {
  const [first] = found;
  if (first === undefined) return null;
  const phases = [...new Set(found.filter(({ code }) => code === first.code).map(({ phase }) => phase))];
  const last = phases.length > 1 ? ` and ${phases.at(-1)}` : '';
  const named = `${phases.slice(0, Math.max(1, phases.length - 1)).join(', ')}${last}`;
  return { missing: `${first.reason} (\`${first.code}\`, in ${named})`, next: first.nextStep };
}

/** What is missing, and what is to be done about it. */
export interface Lacking {
  readonly missing: string;
  readonly next: string;
}

/**
 * Asks on a terminal whether dependencies are to be frozen now, where that is all that is missing for `verified` evidence.
 * Nobody is kept from anything by it: what is not frozen is told.
 */
export async function offerFreeze(
  invocation: Invocation,
  human: UnlockedHuman | null,
  lacking: Lacking | null = null,
): Promise<Verifiable> {
  const { dependencies, sandboxes } = await invocation.open();
  const state = await sandboxes.state();
  if (!state.works) return { verified: false, missing: state.reason, next: state.nextStep };
  const open = async () =>
    (await dependencies.list()).filter((set) => set.state !== 'frozen' && set.state !== 'empty');
  const { args, out, prompts } = invocation;
  for (const set of await open()) {
    const { kind, lockfile, hash, reaches } = set;
    if (human === null || prompts === null || args.flag('yes')) continue;
    const local = localPackagesLine(set);
    if (local !== null) await out.log(local);
    const question = `Freeze what ${oneLine(lockfile)} names, so that tests are verified with it? It is installed once more, for the engine, from ${reaches.map(oneLine).join(', ')}${andFiles(set)}.`;
    if (!(await prompts.confirm(question))) continue;
    const order = { kind, lockfile, hash, scripts: [], hosts: [], files: localFilesOf(set) };
    await working(out, `installing what ${lockfile} names`, () => dependencies.freeze(order, human)).catch(
      (error: unknown) => out.log(error instanceof Error ? error.message : String(error)),
    );
  }
  const [first] = await open();
  if (lacking !== null) {
    const { missing, next } = lacking;
    return { verified: false, missing, next: first === undefined ? next : `${next}; then ${FREEZE}` };
  }
  if (first === undefined) return ALL;
  const missing =
    first.state === 'stale'
      ? `${first.lockfile} changed since it was frozen`
      : `${first.lockfile} is not frozen`;
  return { verified: false, missing, next: FREEZE };
}

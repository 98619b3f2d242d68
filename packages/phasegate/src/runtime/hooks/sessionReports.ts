import { own } from '@phasegate/core';
import { OBSERVED } from '../observing.ts';
import type { HookReports, HookSession, Store } from '../ports.ts';

/** Counts what a session reported of its calls in a run: what the engine saw for itself, and what is only said. */
export async function sessionReports(
  store: Pick<Store, 'keptAll'>,
  { client, session }: Pick<HookSession, 'client' | 'session'>,
  run: string,
): Promise<HookReports> {
  const key = `${client}/${session}/`;
  const calls = await store.keptAll('call', key);
  const reported = calls.filter(
    ({ data }) => own(data, 'run') === run && own(data, 'reported') === true,
  ).length;
  // A receipt names the call it was used for, once.
  const receipts = await store.keptAll(OBSERVED, `${run}/`);
  const observed = receipts.filter(({ data }) => String(own(data, 'call') ?? '').startsWith(key)).length;
  return { observed, claimed: Math.max(0, reported - observed) };
}

import { own } from '@phasegate/core';
import { OBSERVED } from '../observing.ts';
import type { HookReports, HookSession, Store } from '../ports.ts';
import { sessionCalls } from './sessionCalls.ts';

/** Counts what a session reported of its calls in a run: what the engine saw for itself, and what is only said. */
export async function sessionReports(
  store: Pick<Store, 'keptAll'>,
  { client, session }: Pick<HookSession, 'client' | 'session'>,
  run: string,
): Promise<HookReports> {
  const key = `${client}/${session}/`;
  let reported = 0;
  for await (const { data } of sessionCalls(store, `${client}/${session}`))
    if (own(data, 'run') === run && own(data, 'reported') === true) reported += 1;
  // A receipt names the call it was used for, once.
  const receipts = await store.keptAll(OBSERVED, `${run}/`);
  const observed = receipts.filter(({ data }) => String(own(data, 'call') ?? '').startsWith(key)).length;
  return { observed, claimed: Math.max(0, reported - observed) };
}

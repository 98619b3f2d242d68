import { own } from '@phasegate/core';
import type { Store } from '../ports.ts';

/**
 * Drops what was decided on calls of sessions that nobody heard of for a month, where every run they were judged in has
 * ended; what was judged stays in the audit. Looks once a day, at a few sessions. Says how many were dropped.
 */
export async function pruneCalls({
  store,
  now,
}: {
  readonly store: Pick<Store, 'keep' | 'kept' | 'keptAll' | 'dropKept' | 'load'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}): Promise<number> {
  const iso = (at: number) => new Date(at).toISOString();
  const last = await store.kept(KIND, KEY);
  if (last !== undefined && String(own(last, 'at')) > iso(now() - EVERY_MS)) return 0;
  await store.keep({ kind: KIND, key: KEY, data: { at: iso(now()) } }, { run: null, audit: [] });
  let [looked, dropped] = [0, 0];
  for (const { key, data } of await store.keptAll('session')) {
    if (String(own(data, 'last_at')) > iso(now() - KEPT_MS)) continue;
    const calls = await store.keptAll('call', `${key}/`);
    if (calls.length === 0) continue;
    if (++looked > MOST_LOOKED) break;
    const runs = new Set(calls.map((call) => own(call.data, 'run')));
    if (await someGoesOn(store, runs)) continue;
    dropped += await store.dropKept('call', `${key}/`);
  }
  return dropped;
}

async function someGoesOn(store: Pick<Store, 'load'>, runs: ReadonlySet<unknown>): Promise<boolean> {
  for (const id of runs) {
    if (typeof id === 'string' && ((await store.load(id))?.run.phase ?? null) !== null) return true;
  }
  return false;
}

const KIND = 'pruned';
const KEY = 'calls';
const DAY_MS = 86_400_000;
const EVERY_MS = DAY_MS;
const KEPT_MS = 30 * DAY_MS;
const MOST_LOOKED = 50;

import { own } from '@phasegate/core';
import type { KeptRecord, Store } from '../ports.ts';
import { CALL, sessionCalls } from './sessionCalls.ts';

/** What sessions are kept in. */
export interface PruneParts {
  readonly store: Pick<Store, 'keep' | 'kept' | 'keptAll' | 'dropKept' | 'load'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Drops sessions that nobody heard of for a month, with what was decided on their calls, where every run they had to do
 * with has ended; and of sessions that have no run or ended themselves the oldest beyond some hundreds, as anyone can
 * announce them and all are looked at when one comes to a run. That a session came to a run, what was judged and what was found stays in the audit. Looks once a day, or
 * when it is told to, at a few sessions. Says how many were dropped.
 */
export async function pruneSessions({ store, now }: PruneParts, isTold = false): Promise<number> {
  const iso = (at: number) => new Date(at).toISOString();
  const last = await store.kept(KIND, KEY);
  const isDue = last === undefined || String(own(last, 'at')) <= iso(now() - EVERY_MS);
  if (!isDue && !isTold) return 0;
  const all = (await store.keptAll('session')).toSorted((one, other) =>
    placeOf(one) < placeOf(other) ? -1 : 1,
  );
  const free = all.filter((session) => own(session.data, 'run') === null || hasEnded(session));
  const surplus = new Set(free.slice(0, Math.max(0, free.length - MOST_FREE)));
  const old = all.filter((session) => lastAt(session) <= iso(now() - KEPT_MS) || surplus.has(session));
  // On from where the last look ended: those that must stay would be all that is ever looked at.
  const after = String(own(last ?? {}, 'after') ?? '');
  const next = old.filter((session) => placeOf(session) > after);
  const looked = [...next, ...old.filter((session) => placeOf(session) <= after)].slice(0, MOST_LOOKED);
  const ended = looked.at(-1);
  const at = isDue ? iso(now()) : String(own(last, 'at'));
  const data = { at, after: ended === undefined ? '' : placeOf(ended) };
  await store.keep({ kind: KIND, key: KEY, data }, { run: null, audit: [] });
  let dropped = 0;
  for (const session of looked)
    dropped += await drop(store, session, surplus.has(session) && hasEnded(session));
  return dropped;
}

/**
 * Drops one session with all that is kept of it, where nothing of it goes on: one or none. A session that is over was
 * compared at its end, so it also goes alone, while its run goes on; what was observed is then the run's.
 */
async function drop(
  store: PruneParts['store'],
  { key, data }: KeptRecord,
  isAlone: boolean,
): Promise<number> {
  const runs = new Set([own(data, 'run')]);
  for await (const call of sessionCalls(store, key)) runs.add(own(call.data, 'run'));
  const goesOn = await someGoesOn(store, runs);
  if (goesOn && !isAlone) return 0;
  for (const kind of [CALL, 'announced', 'forged', 'hook_forged']) await store.dropKept(kind, `${key}/`);
  for (const run of runs) if (typeof run === 'string' && !goesOn) await store.dropKept('observed', `${run}/`);
  // A key may be the beginning of another one's.
  await store.dropKept('unreconciled', key, true);
  return store.dropKept('session', key, true);
}

async function someGoesOn(store: Pick<Store, 'load'>, runs: ReadonlySet<unknown>): Promise<boolean> {
  for (const id of runs) {
    if (typeof id === 'string' && ((await store.load(id))?.run.phase ?? null) !== null) return true;
  }
  return false;
}

function hasEnded({ data }: KeptRecord): boolean {
  return own(data, 'ended') === true;
}

/** In the order in which sessions are looked at. */
function placeOf(session: KeptRecord): string {
  return `${lastAt(session)} ${session.key}`;
}

function lastAt({ data }: KeptRecord): string {
  return String(own(data, 'last_at'));
}

const KIND = 'pruned';
const KEY = 'calls';
const DAY_MS = 86_400_000;
const EVERY_MS = DAY_MS;
const KEPT_MS = 30 * DAY_MS;
/** As many sessions that have no run, or are over, are remembered. */
const MOST_FREE = 250;
const MOST_LOOKED = 200;

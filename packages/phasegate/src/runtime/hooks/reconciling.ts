import type { Run } from '@phasegate/core';
import { ENGINE } from '../engine.ts';
import type { Store, WrittenCall, WrittenCalls } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import type { Attended, Sessions } from './sessions.ts';

/** Compares a session's transcript with what was judged; gives the session as it is after that. */
export type Reconcile = (attended: Attended) => Promise<Attended>;

/**
 * Builds it. Every call a client wrote down since its session was bound must have been judged; else, or where the
 * transcript lost calls it had, a human looks at the run. That finds hooks that were off, and an impostor that answered
 * for us. What a client has not written down yet is none of it: a slow client parks nobody.
 */
export function createReconciling(parts: {
  readonly store: Pick<Store, 'kept' | 'keptAll' | 'keep' | 'load'>;
  readonly runtime: Pick<Runtime, 'submit'>;
  readonly sessions: Pick<Sessions, 'remember'>;
  readonly now: () => number;
}): Reconcile {
  const { store, runtime } = parts;

  async function park(attended: Attended, message: string): Promise<Attended> {
    const { run } = attended;
    if (run === null) return attended;
    const command = { kind: 'escalate', reason: 'unjudged_calls', message } as const;
    await runtime.submit(run.id, command, { principal: ENGINE });
    return { ...attended, run: (await store.load(run.id))?.run ?? null };
  }

  /** Said once for a session: what is missing now may be there the next time. */
  async function noteUnread({ event, key }: Attended, run: Run): Promise<void> {
    const data = { client: event.client, session: event.sessionId };
    const time = new Date(parts.now()).toISOString();
    const note = { time, principal: 'engine:phasegate', event: 'unreconciled', data } as const;
    await store.keep({ kind: 'unreconciled', key, data }, { run: run.id, audit: [note], was: null });
  }

  /** Names of the calls that were never judged, of these. */
  async function unjudged(
    { key, data }: Attended,
    calls: readonly WrittenCall[],
  ): Promise<readonly string[]> {
    const found = [];
    for (const call of calls) {
      if (call.at !== null && call.at < data.bound_at) continue;
      if ((await store.kept('call', `${key}/${call.id}`)) === undefined) found.push(call.name);
    }
    return found;
  }

  /** What is wrong with a transcript; null where nothing is. */
  async function faultIn(attended: Attended, { calls, isSubagent }: WrittenCalls): Promise<string | null> {
    const before = isSubagent ? 0 : attended.data.written;
    if (calls.length < before) return "calls were removed from the transcript of its agent's session";
    const [first, ...others] = await unjudged(attended, calls.slice(before));
    if (first === undefined) return null;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `its client made calls that were never judged: \`${first.slice(0, 100)}\`${more}`;
  }

  return async (attended) => {
    const { event, data, run } = attended;
    if (run === null || run.status !== 'active' || event.written === undefined) return attended;
    const written = await event.written();
    if (written === null) {
      if (data.written > 0) return park(attended, "the transcript of its agent's session is gone");
      await noteUnread(attended, run);
      return attended;
    }
    const fault = await faultIn(attended, written);
    if (fault !== null) return park(attended, fault);
    if (written.isSubagent || written.calls.length === data.written) return attended;
    return parts.sessions.remember(attended, { written: written.calls.length });
  };
}

import { canonicalJson, type JsonObject, own, type Run } from '@phasegate/core';
import { parseCommandLine } from '@phasegate/core/model';
import { ENGINE } from '../engine.ts';
import type { Store, WrittenCall, WrittenCalls } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import { aTurn, CALL, PIECE, sessionCalls } from './sessionCalls.ts';
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
  readonly hash: (text: string) => string;
}): Reconcile {
  const { store, runtime } = parts;

  async function park(attended: Attended, message: string): Promise<Attended> {
    const { run } = attended;
    if (run === null) return attended;
    const command = { kind: 'escalate', reason: 'unjudged_calls', message } as const;
    await runtime.submit(run.id, command, { principal: ENGINE });
    return { ...attended, run: (await store.load(run.id))?.run ?? null };
  }

  async function note(run: Run, event: 'unreconciled' | 'hook_forged', key: string, data: JsonObject) {
    const time = new Date(parts.now()).toISOString();
    const record = { time, principal: 'engine:phasegate', event, data } as const;
    await store.keep({ kind: event, key, data }, { run: run.id, audit: [record], was: null });
  }

  /** Said once for a session: what is missing now may be there the next time. */
  function noteUnread({ event, key }: Attended, run: Run): Promise<void> {
    return note(run, 'unreconciled', key, { client: event.client, session: event.sessionId });
  }

  /** Names of the calls that were never judged, of these. */
  async function unjudged(
    { key, data }: Attended,
    calls: readonly WrittenCall[],
  ): Promise<readonly string[]> {
    const found = [];
    const judged = await allowedInputs(key, calls);
    for (const [number, { id, name, at, input }] of calls.entries()) {
      if (number % PIECE === PIECE - 1) await aTurn();
      // Also of calls before its run: their judgements are not for later ones.
      const among = input !== undefined && isAmong(judged, input);
      if (at !== null && at < data.bound_at) continue;
      if (input === undefined ? await isJudged(`${key}/${id}`) : among) continue;
      found.push(name);
    }
    return found;
  }

  async function isJudged(key: string): Promise<boolean> {
    return (await store.kept(CALL, key)) !== undefined;
  }

  /** How often each input was allowed, by its hash; empty where calls are compared by their ids. */
  async function allowedInputs(key: string, calls: readonly WrittenCall[]): Promise<Map<string, number>> {
    const judged = new Map<string, number>();
    if (calls.every(({ input }) => input === undefined)) return judged;
    for await (const { data } of sessionCalls(store, key)) {
      if (own(data, 'allowed') !== true) continue;
      const hash = String(own(data, 'args_hash') ?? ANY);
      judged.set(hash, (judged.get(hash) ?? 0) + 1);
    }
    return judged;
  }

  /** Whether an input was judged, and is taken out of those that were: each judgement is good for one call. */
  function isAmong(judged: Map<string, number>, input: JsonObject): boolean {
    const hashes = [input, withoutExec(input)].map((one) => parts.hash(canonicalJson(one)));
    const found = [...hashes, ANY].find((hash) => (judged.get(hash) ?? 0) > 0);
    if (found !== undefined) judged.set(found, (judged.get(found) ?? 0) - 1);
    return found !== undefined;
  }

  /** What is wrong with a transcript; null where nothing is. */
  async function faultIn(attended: Attended, written: WrittenCalls): Promise<string | null> {
    const { calls, isSubagent, isWhole } = written;
    const before = isSubagent || !isWhole ? 0 : attended.data.written;
    if (calls.length < before) return "calls were removed from the transcript of its agent's session";
    // All of them each time: a call that ends late stands before others that were compared already.
    const [first, ...others] = await unjudged(attended, calls);
    if (first === undefined) return null;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `its client made calls that were never judged: \`${first.slice(0, 100)}\`${more}`;
  }

  /**
   * The same for a run that ended before its session did. Nobody can be handed it, so what is found stands in its audit,
   * and with its session for a human to see.
   */
  async function afterTheEnd(attended: Attended): Promise<Attended> {
    const { event, data, key } = attended;
    const run = data.run === null ? undefined : (await store.load(data.run))?.run;
    if (run === undefined || run.phase !== null || data.found !== null || !ENDING.has(event.event))
      return attended;
    const written = await event.written?.(data.transcript);
    if (written === undefined) return attended;
    // Without a run it may have been free to do what it liked.
    const during = written?.calls.filter(({ at }) => at === null || at <= run.updatedAt) ?? [];
    const lost = "the transcript of its agent's session is gone";
    const fault =
      written === null
        ? data.written > 0
          ? lost
          : null
        : await faultIn(attended, { ...written, calls: during, isWhole: false });
    if (fault === null) return attended;
    const { client, sessionId: session } = event;
    const how = `found after the run had ended: ${fault}`;
    await note(run, 'hook_forged', `${key}/${run.id}`, { client, session, how });
    return parts.sessions.remember(attended, { found: fault });
  }

  return async (attended) => {
    const { event, data, run } = attended;
    if (run === null) return afterTheEnd(attended);
    if (run.status !== 'active' || event.written === undefined) return attended;
    const written = await event.written(data.transcript);
    if (written === undefined) return attended;
    if (written === null) {
      if (data.written > 0) return park(attended, "the transcript of its agent's session is gone");
      await noteUnread(attended, run);
      return attended;
    }
    const fault = await faultIn(attended, written);
    if (fault !== null) return park(attended, fault);
    const { isSubagent, isWhole, calls } = written;
    if (isSubagent || !isWhole || calls.length === data.written) return attended;
    return parts.sessions.remember(attended, { written: calls.length });
  };
}

/** What an older version kept says nothing about its input. */
const ANY = '';

/** Events after which a session may do nothing more. */
const ENDING: ReadonlySet<string> = new Set(['stop', 'session_end']);

/** A command as it was before it was put into the sandbox: its client may write it down as it was told to run it. */
function withoutExec(input: JsonObject): JsonObject {
  const { command } = input;
  if (typeof command !== 'string' || !command.includes(' exec ')) return input;
  const read = parseCommandLine(command);
  const [words, ...others] = read.ok ? read.commands : [];
  const at = words?.indexOf('exec') ?? -1;
  const line = words?.at(-1);
  if (words === undefined || others.length > 0 || at < 1 || line === undefined) return input;
  const isOurs = words.slice(at + 2, -1).join(' ') === '-- bash -c';
  return isOurs ? { ...input, command: line } : input;
}

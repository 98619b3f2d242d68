import { AsyncLocalStorage } from 'node:async_hooks';
import { createInFlight, type InFlight } from './inFlight.ts';
import { createOwnCalls, type OwnCalls } from './ownCalls.ts';
import type { CallRecord, CallStore, FeedStore, Store } from './ports.ts';
import { PROCESSES, type Processes } from './processes.ts';

/**
 * The allowed tool calls under way in every process on the store. A phase must not end under a call it allowed, and a
 * call must not begin while its phase is being left: the store holds both to it, this waits, ends and tells.
 */
export interface CallsUnderWay extends InFlight, Pick<OwnCalls, 'begin' | 'over' | 'settle'> {
  /** The record of a call that is about to be judged; it counts from when the store has it. */
  recordOf(call: Pick<CallRecord, 'run' | 'item' | 'tool'>, withinMs: number): CallRecord;
  /** Carries out a call that was begun; the signal is aborted when somebody wants its end. */
  carryOut<T>(call: CallRecord, act: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** What is under way now, in the run or for one item of it. */
  look(runId: string, item: string | null): Promise<Seen>;
  /** Waits until nothing of it is under way, not longer than this; gives what was seen last. */
  wait(runId: string, item: string | null, withinMs: number): Promise<Seen>;
  /** Has them ended, wherever they are carried out, and waits for that. Those that do not end no longer count. */
  end(runId: string, item: string | null, those?: (call: CallRecord) => boolean): Promise<void>;
  /** Those among them that carry out the caller. */
  around(calls: readonly CallRecord[]): readonly CallRecord[];
}

/** What was under way at one moment. */
export interface Seen {
  /** Calls that go on. */
  readonly under: readonly CallRecord[];
  /** Ids of records without a call: their process is gone or knows nothing of them, or their time is up. */
  readonly void: readonly string[];
  readonly begun: number;
}

/** How long is waited for calls. */
export interface CallWaits {
  /** For calls to end by themselves before a phase is left. Default: 30 seconds. */
  readonly completionMs?: number;
  /** For calls to end that were told to. Default: 10 seconds. */
  readonly endMs?: number;
}

/** What it is built from. */
export interface CallsParts {
  readonly store: CallStore & FeedStore & Pick<Store, 'history'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
  readonly processes?: Processes;
  readonly waits?: CallWaits;
}

/** Builds it for this process. */
export function createCallsUnderWay(parts: CallsParts): CallsUnderWay {
  const { store, now, processes = PROCESSES } = parts;
  const inFlight = createInFlight();
  const ownCalls = createOwnCalls(parts);
  const own = new Map<string, { readonly call: CallRecord; readonly controller: AbortController }>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;

  function isVoid({ id, deadline, process }: CallRecord): boolean {
    if (deadline <= new Date(now()).toISOString()) return true;
    if (process === processes.self) return !ownCalls.isOpen(id);
    // What is left of it is killed, and counts until it is seen that it is gone.
    return processes.isGone(process) && !processes.endPrograms(id);
  }

  async function look(runId: string, item: string | null): Promise<Seen> {
    const { under, begun } = await store.calls(runId, item);
    if (under.length === 0) return { under, void: [], begun };
    const over = new Set(under.filter(isVoid));
    return { under: under.filter((call) => !over.has(call)), void: [...over].map(idOf), begun };
  }

  async function wait(
    runId: string,
    item: string | null,
    withinMs: number,
    those: (call: CallRecord) => boolean = () => true,
  ): Promise<Seen> {
    const lookAtThose = async () => {
      const all = await look(runId, item);
      return { ...all, under: all.under.filter(those) };
    };
    let seen = await lookAtThose();
    if (seen.under.length === 0 || withinMs <= 0) return seen;
    const changes = watchChanges(store);
    const over = Promise.withResolvers<'over'>();
    const limit = setTimeout(() => over.resolve('over'), withinMs);
    try {
      for (let left = true; left && seen.under.length > 0; ) {
        const change = changes.next();
        seen = await lookAtThose();
        if (seen.under.length > 0) left = (await Promise.race([change, over.promise])) !== 'over';
      }
      return seen;
    } finally {
      clearTimeout(limit);
      changes.stop();
    }
  }

  /** A call whose record somebody dropped does not count any more, so it must not go on either. */
  async function lookForEnds(): Promise<void> {
    for (const runId of new Set([...own.values()].map(({ call }) => call.run))) {
      const { under } = await store.calls(runId, null);
      for (const { call, controller } of own.values()) {
        if (call.run !== runId || under.some(({ id, ending }) => id === call.id && !ending)) continue;
        controller.abort(new Error('somebody ended it'));
      }
    }
  }

  /** Only while a call goes on: most are over before it is first looked. */
  function watchOver(call: CallRecord, controller: AbortController): () => void {
    own.set(call.id, { call, controller });
    timer ??= setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      lookForEnds()
        .catch(parts.onError)
        .finally(() => {
          isLooking = false;
        });
    }, LOOK_EVERY_MS).unref();
    return () => {
      own.delete(call.id);
      if (own.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }

  return {
    ...inFlight,
    begin: ownCalls.begin,
    over: ownCalls.over,
    settle: ownCalls.settle,
    recordOf: ({ run, item, tool }, withinMs) => ({
      id: `call-${parts.newId().replace(/^run-/, '')}`,
      run,
      item,
      tool,
      process: processes.self,
      deadline: new Date(now() + withinMs + SLACK_MS).toISOString(),
      ending: false,
    }),
    async carryOut(call, act) {
      const controller = new AbortController();
      const done = watchOver(call, controller);
      try {
        return await carriedOut.run(call.id, () => act(controller.signal));
      } finally {
        done();
      }
    },
    look,
    wait: (runId, item, withinMs) => wait(runId, item, withinMs),
    async end(runId, item, those = () => true) {
      const under = (await look(runId, item)).under.filter(those);
      if (under.length === 0) return;
      for (const { id } of under) own.get(id)?.controller.abort(new Error('somebody ended it'));
      await store.askToEnd(runId, under.map(idOf));
      const { under: left } = await wait(runId, item, parts.waits?.endMs ?? END_MS, those);
      for (const call of left) await store.endCall(call, []);
    },
    around(calls) {
      const known = [carriedOut.getStore(), ...processes.callsAround()];
      return calls.filter(({ id }) => known.includes(id));
    },
  };
}

/** How long a command waits for calls to end by themselves, where nothing else is said. */
export const COMPLETION_MS = 30_000;
const END_MS = 10_000;
/** How often it is looked for calls that are to be ended, and for processes that are gone. */
const LOOK_EVERY_MS = 250;
/** A call that ran into its limit has this long to be recorded. */
const SLACK_MS = 60_000;

/** The call that whatever runs now is carried out by, where this process carries it out. */
const carriedOut = new AsyncLocalStorage<string>();

function idOf({ id }: CallRecord): string {
  return id;
}

/** Something may have changed: the store was written, or a process may have ended, which no store tells. */
function watchChanges(store: FeedStore): { next(): Promise<void>; stop(): void } {
  let change = Promise.withResolvers<void>();
  const tell = () => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  const forget = store.onCommit(tell);
  const timer = setInterval(tell, LOOK_EVERY_MS);
  return {
    next: () => change.promise,
    stop() {
      forget();
      clearInterval(timer);
    },
  };
}

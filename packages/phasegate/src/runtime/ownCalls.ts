import { isJsonObject, own, PhasegateError } from '@phasegate/core';
import type { AuditDraft, CallRecord, CallStore, Store } from './ports.ts';
import { receiptsIn } from './verify/proving.ts';

/**
 * The calls that this process carries out, from before the store has them until it has their end. Nobody else knows what
 * came of them: an end that cannot be written now is kept, and written when the store is back.
 */
export interface OwnCalls {
  /** As the store's `beginCall`; a call of which the store does not say whether it began is ended again. */
  begin: CallStore['beginCall'];
  /** Writes that a call is over, with these records. Throws where the store is away: it is written later all the same. */
  over(call: CallRecord, audit: readonly AuditDraft[]): Promise<void>;
  /** Whether a call of this process goes on, or its end has still to be written. */
  isOpen(id: string): boolean;
  /** Tries once more to write what is left. Nothing is tried after it. */
  settle(): Promise<void>;
}

/** What it is built from. */
export interface OwnCallParts {
  readonly store: CallStore & Pick<Store, 'history'>;
  readonly onError: (error: unknown) => void;
}

/** Builds it for one store. */
export function createOwnCalls({ store, onError }: OwnCallParts): OwnCalls {
  const left = new Map<string, Left>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let pauseMs = PAUSE_MS;
  let isSettled = false;

  function keepIfAway(call: CallRecord, audit: readonly AuditDraft[], error: unknown): void {
    if (!isAway(error) || left.size >= MOST_LEFT) {
      OPEN.delete(call.id);
      return;
    }
    left.set(call.id, { call, audit });
    tryLater();
  }

  function tryLater(): void {
    if (isSettled || left.size === 0) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void writeLeft();
    }, pauseMs).unref();
  }

  function writeLeft(): Promise<void> {
    writing ??= writeInOrder().finally(() => {
      writing = undefined;
      tryLater();
    });
    return writing;
  }

  async function writeInOrder(): Promise<void> {
    for (const [id, { call, audit }] of left) {
      try {
        await write(call, audit);
      } catch (error) {
        if (isAway(error)) {
          pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
          return;
        }
        onError(error);
      }
      left.delete(id);
      OPEN.delete(id);
    }
    pauseMs = PAUSE_MS;
  }

  /** INVARIANT: no record twice. A write whose answer was lost may have been made, and then dropped the call with it. */
  async function write(call: CallRecord, audit: readonly AuditDraft[]): Promise<void> {
    const { under } = await store.calls(call.run, null);
    const isThere = under.some(({ id }) => id === call.id);
    await store.endCall(call, isThere ? audit : await unwritten(call.run, audit));
  }

  async function unwritten(run: string, audit: readonly AuditDraft[]): Promise<readonly AuditDraft[]> {
    if (audit.length === 0) return audit;
    const written = new Set((await receiptsIn(store, run)).map(({ id }) => id as unknown));
    return audit.filter((draft) => !written.has(receiptIdOf(draft)));
  }

  return {
    async begin(call, version, audit, held) {
      // Before the store has it: nobody may find it there and take it for one that was left behind.
      OPEN.add(call.id);
      try {
        const begun = await store.beginCall(call, version, audit, held);
        if (!begun) OPEN.delete(call.id);
        return begun;
      } catch (error) {
        keepIfAway(call, [], error);
        throw error;
      }
    },
    async over(call, audit) {
      try {
        await store.endCall(call, audit);
        OPEN.delete(call.id);
      } catch (error) {
        keepIfAway(call, audit, error);
        throw error;
      }
    },
    isOpen: (id) => OPEN.has(id),
    async settle() {
      isSettled = true;
      clearTimeout(timer);
      await writing;
      if (left.size > 0) await writeLeft();
      for (const id of left.keys()) OPEN.delete(id);
      left.clear();
    },
  };
}

/** Of the process and not of one project: records name the process, and it may have a store open more than once. */
const OPEN = new Set<string>();

interface Left {
  readonly call: CallRecord;
  readonly audit: readonly AuditDraft[];
}

/** Beyond it the record of a call is lost while the store is away, and the call does not count any more. */
const MOST_LEFT = 1_000;
const PAUSE_MS = 500;
/** A database that another process keeps locked has everybody wait for seconds with each try. */
const LONGEST_PAUSE_MS = 4_000;

function isAway(error: unknown): boolean {
  return error instanceof PhasegateError && error.code === 'store_unavailable';
}

function receiptIdOf({ data }: AuditDraft): unknown {
  const receipt = isJsonObject(data) ? own(data, 'receipt') : undefined;
  return isJsonObject(receipt) ? own(receipt, 'id') : undefined;
}

import { own, type Run } from '@phasegate/core';
import type { FeedRecord, Store } from '../ports.ts';
import { type AllowedCall, COARSE_MS, LONGEST_MS } from './allowedCall.ts';
import { createKeptCalls, type Handovers, type KeptCalls, type TakenRecord } from './keptCalls.ts';

/** What the audit has of calls and handovers since a run entered its phase. */
export interface CallsSince {
  /** Allowed calls that name a path that changed, of all runs, and others that were carried out for this one, in their order. */
  readonly calls: readonly AllowedCall[];
  /** Of this run. */
  readonly handovers: Handovers;
}

/** Calls as the audit has them, of all runs and all processes. */
export interface CallsInAudit {
  /** What was recorded by now that can explain such changes. */
  since(
    run: Pick<Run, 'id'> & { readonly work: Pick<Run['work'], 'enteredAt'> },
    changes: readonly { readonly path: string }[],
  ): Promise<CallsSince>;
}

const PAGE = 1000;

/**
 * Reads them. INVARIANT: a record is read when somebody asks for the first time since it was written, and what explains
 * no change is not kept: a phase is compared whenever an agent says that it is done, and may be refused as often as it
 * likes. Only what goes back further than anything before reads again, and then twice as far, so that it is seldom.
 */
export function createCallsInAudit(
  store: Pick<Store, 'feedSince' | 'feedEnd'>,
  kept: () => KeptCalls = createKeptCalls,
): CallsInAudit {
  let known: Known | undefined;
  let [latest, earliest] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let reading: Promise<unknown> = Promise.resolve();
  let waiting: Promise<Known> | undefined;

  /** All that is recorded by now: one who comes while it is read waits for the next reading, with all who do. */
  function read(from: number): Promise<Known> {
    earliest = Math.min(earliest, from);
    latest = Math.max(latest, from);
    waiting ??= reading.then(() => {
      waiting = undefined;
      const mine = readOn();
      reading = mine.catch(() => undefined);
      return mine;
    });
    return waiting;
  }

  async function readOn(): Promise<Known> {
    const now = known === undefined || earliest < known.from ? begin() : known;
    // What comes while this is read is left to the next: somebody who never stops would keep it from ending.
    const end = await store.feedEnd();
    while (now.after === undefined || now.after < end) {
      const page = await store.feedSince({
        events: EVENTS,
        since: new Date(now.from).toISOString(),
        limit: PAGE,
        ...(now.after === undefined ? {} : { after: now.after }),
      });
      for (const record of page) take(now.calls, record);
      now.after = Math.max(page.at(-1)?.id ?? 0, page.length < PAGE ? end : 0);
      if (page.length === PAGE) await nextTurn();
    }
    known = now;
    return now;
  }

  function begin(): Known {
    if (known === undefined) return { from: earliest, after: undefined, calls: kept() };
    const back = Math.max(LONGEST_MS, 2 * (latest - known.from));
    return { from: Math.max(0, Math.min(earliest, latest - back)), after: undefined, calls: kept() };
  }

  return {
    async since({ id, work: { enteredAt } }, changes) {
      const since = Date.parse(enteredAt) - COARSE_MS;
      const { calls } = await read(since - LONGEST_MS);
      return {
        calls: calls.of({ run: id, since, paths: changes.map(({ path }) => path) }),
        handovers: calls.handovers(id, enteredAt),
      };
    },
  };
}

/** What was read: all from a time to a record. */
interface Known {
  /** Milliseconds since the epoch. */
  readonly from: number;
  after: number | undefined;
  readonly calls: KeptCalls;
}

/** What each record is to the fence. The one who completes an item lets it go. */
const SAYS = {
  run_claimed: 'took',
  item_claimed: 'took item',
  run_released: 'let go',
  item_released: 'let go of item',
  item_completed: 'let go of item',
  tool_executed: 'executed',
  tool_judged: 'allowed',
} as const satisfies Partial<Record<FeedRecord['event'], TakenRecord>>;

const EVENTS = Object.keys(SAYS) as (keyof typeof SAYS)[];

function take(calls: KeptCalls, record: FeedRecord): void {
  const said = SAYS[record.event as keyof typeof SAYS];
  if (said !== 'allowed' || own(record.data, 'allowed') === true) calls.take(record, said);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

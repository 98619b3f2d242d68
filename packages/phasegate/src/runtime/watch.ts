import { decide } from '@phasegate/core';
import { type Here, isElsewhere } from './boundFolder.ts';
import { ENGINE } from './engine.ts';
import { type SteadyClock, timeAtGate } from './gateClock.ts';
import type { Releases } from './leases/releases.ts';
import type { Agents, Store } from './ports.ts';
import type { Runtime } from './runtime.ts';
import { createStuckRuns } from './stuckRuns.ts';
import type { Delivery } from './webhooks/webhookDelivery.ts';

/** What the watch is built from. */
export interface WatchParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly releases: Pick<Releases, 'expire'>;
  readonly agents: Pick<Agents, 'expire'>;
  readonly delivery: Delivery;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Measures how long gates are open; absent: `now` does. */
  readonly steady?: SteadyClock | undefined;
  readonly onError: (error: unknown) => void;
  readonly settings?: WatchSettings;
  /** Where this is: the gates of runs that work elsewhere are closed by those who look there. */
  readonly here?: Here;
}

/** How often the watch looks, and when it speaks up. */
export interface WatchSettings {
  /** Default: 1 second. */
  readonly everyMs?: number;
  /** How long nothing may happen in a run before it is reported. Default: 30 minutes. */
  readonly stuckAfterMs?: number;
}

/** A watch that is being kept. */
export interface Watch {
  /** One round, also when it is not time for it. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Keeps watch over what only the clock brings about. Each round asks for what is due by now, and for nothing else;
 * what goes wrong with one of them is told and stops nothing else.
 */
export function keepWatch(parts: WatchParts): Watch {
  const { store, runtime, releases, agents, delivery, now, onError } = parts;
  const { everyMs = EVERY_MS, stuckAfterMs = STUCK_AFTER_MS } = parts.settings ?? {};
  const stuck = createStuckRuns({ store, now, afterMs: stuckAfterMs });
  let sweptAt = Number.NEGATIVE_INFINITY;
  let round: Promise<void> | undefined;

  async function each<T>(things: readonly T[], act: (thing: T) => Promise<void>): Promise<void> {
    await Promise.all(things.map((thing) => act(thing).catch(onError)));
  }

  async function closeGate(runId: string): Promise<void> {
    const stored = await store.load(runId);
    if (stored === undefined || isElsewhere(parts.here ?? {}, stored.run)) return;
    const { run } = stored;
    const expire = { kind: 'expire' as const };
    const clock = instantOf(now());
    const time = await timeAtGate(parts, run, clock > run.updatedAt ? clock : run.updatedAt);
    const { events } = decide(run, expire, { principal: ENGINE, now: time, facts: {} });
    if (events.length > 0) await runtime.submit(runId, expire, { principal: ENGINE });
  }

  /** A part of the sweep in each round, so that leases never wait for one that finds much. */
  async function sweep(): Promise<void> {
    const { found, over } = await stuck.next();
    if (over) sweptAt = now();
    await each(found, stuck.report);
  }

  async function lookOnce(): Promise<void> {
    const instant = instantOf(now());
    const tasks = [
      async () => each(await store.leasesEnded(instant), releases.expire),
      async () => each(await store.gatesDue(instant), closeGate),
      () => agents.expire(),
      () => delivery.deliver(),
    ];
    if (Math.abs(now() - sweptAt) >= Math.min(SWEEP_MS, stuckAfterMs)) tasks.push(sweep);
    await each(tasks, (task) => task());
  }

  /** One round at a time: a slow one is not overtaken. */
  function look(): Promise<void> {
    round ??= lookOnce().finally(() => {
      round = undefined;
    });
    return round;
  }

  const timer = setInterval(() => {
    look().catch(onError);
  }, everyMs);
  timer.unref();

  return {
    look,
    async stop() {
      clearInterval(timer);
      await round?.catch(onError);
      await delivery.stop();
    },
  };
}

const EVERY_MS = 1_000;
const STUCK_AFTER_MS = 30 * 60_000;
/** Runs in which nothing happens are looked for less often: it is about minutes. */
const SWEEP_MS = 30_000;

function instantOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

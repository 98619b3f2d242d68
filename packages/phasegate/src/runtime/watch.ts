import { decide, type RunSummary } from '@phasegate/core';
import { ENGINE } from './engine.ts';
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
  readonly onError: (error: unknown) => void;
  readonly settings?: WatchSettings;
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
 * Keeps watch over what only the clock brings about. Each round reads leases and the runs that wait, never all runs;
 * what goes wrong with one of them is told and stops nothing else.
 */
export function keepWatch(parts: WatchParts): Watch {
  const { store, runtime, releases, agents, delivery, now, onError } = parts;
  const { everyMs = EVERY_MS, stuckAfterMs = STUCK_AFTER_MS } = parts.settings ?? {};
  const stuck = createStuckRuns({ store, now, afterMs: stuckAfterMs });
  // Gates that were looked at and are not due: looked at again when the run changed, or then.
  const gates = new Map<string, string>();
  let sweptAt = Number.NEGATIVE_INFINITY;
  let round: Promise<void> | undefined;

  async function each<T>(things: readonly T[], act: (thing: T) => Promise<void>): Promise<void> {
    await Promise.all(things.map((thing) => act(thing).catch(onError)));
  }

  async function closeGates(): Promise<void> {
    const waiting = await store.list({ status: 'waiting' });
    const present = new Set(waiting.map(({ run }) => run));
    for (const run of gates.keys()) if (!present.has(run)) gates.delete(run);
    await each(
      waiting.filter(({ run, updatedAt }) => gates.get(run) !== updatedAt),
      closeGate,
    );
  }

  async function closeGate({ run: runId, updatedAt }: RunSummary): Promise<void> {
    const stored = await store.load(runId);
    if (stored === undefined) return;
    const { run } = stored;
    const expire = { kind: 'expire' as const };
    // A gate without a limit never closes by itself, however late it is.
    const atLast = decide(run, expire, { principal: ENGINE, now: NEVER, facts: {} });
    if (atLast.events.length === 0) {
      gates.set(runId, updatedAt);
      return;
    }
    const clock = new Date(now()).toISOString();
    const due = decide(run, expire, {
      principal: ENGINE,
      now: clock > run.updatedAt ? clock : run.updatedAt,
      facts: {},
    });
    if (due.events.length > 0) await runtime.submit(runId, expire, { principal: ENGINE });
  }

  async function lookOnce(): Promise<void> {
    const instant = new Date(now()).toISOString();
    const tasks = [
      async () =>
        each(
          (await store.leases()).filter((lease) => lease.expiresAt <= instant),
          releases.expire,
        ),
      closeGates,
      () => agents.expire(),
      () => delivery.deliver(),
    ];
    if (Math.abs(now() - sweptAt) >= Math.min(SWEEP_MS, stuckAfterMs)) {
      sweptAt = now();
      tasks.push(async () => each(await stuck.candidates(), stuck.report));
    }
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
const NEVER = '9999-01-01T00:00:00.000Z';

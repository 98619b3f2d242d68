import { setTimeout as pause } from 'node:timers/promises';
import type { HeldAt } from '@phasegate/core/engine';
import type { Store } from '@phasegate/core/ports';
import pg from 'pg';
import type { Plant } from './hereNodes.ts';

/** Mistakes that the checker must find: each is put between every node and its store, and the product has no switch for it. */
export function plants(calm: Promise<void>): Readonly<Record<string, Plant>> {
  const rival = createRivals();
  return {
    'no compare-and-swap': (store) => ({
      ...store,
      async save(run, version, audit, beside) {
        await rival(run.id);
        const stored = await store.load(run.id);
        return store.save(run, stored?.version ?? version, audit, unconditional(beside));
      },
    }),

    'leases by node clock': ({ now: _, ...store }) => store,

    'no catch-up after a missed notification': (store, { url }) => {
      const ended: (() => void)[] = [];
      return {
        ...store,
        onCommit(listener) {
          const stop = listenOnly({ url, listener, calm });
          ended.push(stop);
          return stop;
        },
        async close() {
          for (const stop of ended) stop();
          await store.close();
        },
      };
    },

    'a dead epoch from a cache': (store) => {
      const runs = new Map<string, ReturnType<Store['load']>>();
      const leases = new Map<string, ReturnType<Store['lease']>>();
      return {
        ...store,
        // As long as this node itself has not written the run, it is what it was.
        load: (run) => remembered(runs, run, () => store.load(run)),
        lease: (run, item) => remembered(leases, run, () => store.lease(run, item)),
        async save(run, ...rest) {
          const isSaved = await store.save(run, ...rest);
          runs.delete(run.id);
          leases.delete(run.id);
          return isSaved;
        },
        note: (run, audit) => store.note(run, audit),
      };
    },

    'a token that is looked at by the door alone': (store) => ({
      ...store,
      async note(run, audit, judgedAt) {
        if (typeof judgedAt !== 'object') return store.note(run, audit, judgedAt);
        // As at a node that is slow, or asleep for a moment, after it has let somebody in.
        await pause(50);
        return store.note(run, audit, withoutToken(judgedAt));
      },
      save(run, version, audit, { held, ...beside } = {}) {
        const conditions = held === undefined ? beside : { ...beside, held: withoutToken(held) };
        return store.save(run, version, audit, conditions);
      },
    }),

    'audit outside the transaction': (store) => ({
      ...store,
      async save(run, version, audit, beside) {
        if (!(await store.save(run, version, [], beside))) return false;
        return store.note(run.id, audit);
      },
    }),
  };
}

/** Waits until somebody else wants to save the same run, and not for long: so two who decided at once do save at once. */
function createRivals(): (run: string) => Promise<void> {
  const waiting = new Map<string, () => void>();
  return async (run) => {
    const other = waiting.get(run);
    waiting.delete(run);
    if (other !== undefined) return other();
    const met = Promise.withResolvers<void>();
    waiting.set(run, met.resolve);
    const over = new AbortController();
    await Promise.race([met.promise, pause(200, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
    if (waiting.get(run) === met.resolve) waiting.delete(run);
  };
}

function unconditional(beside: Parameters<Store['save']>[3]): Parameters<Store['save']>[3] {
  const { calls: _, held: _held, seen: _seen, ...rest } = beside ?? {};
  return rest;
}

function withoutToken(held: HeldAt): HeldAt {
  const { jti: _, ...rest } = held;
  return rest;
}

function remembered<T>(known: Map<string, T>, key: string, ask: () => T): T {
  const found = known.get(key) ?? ask();
  known.set(key, found);
  return found;
}

/** Listens and never looks. One whose connection is cut comes back when all is calm. */
function listenOnly(request: {
  readonly url: string;
  readonly listener: () => void;
  readonly calm: Promise<void>;
}): () => void {
  let client: pg.Client | undefined;
  let isOver = false;
  async function listen(): Promise<void> {
    if (isOver) return;
    const { searchParams } = new URL(request.url);
    const mine = new pg.Client({
      connectionString: request.url.split('?')[0] ?? '',
      application_name: 'phasegate',
    });
    client = mine;
    mine.on('notification', () => request.listener());
    mine.on('error', () => void request.calm.then(listen));
    await mine.connect();
    await mine.query(`LISTEN "phasegate_${searchParams.get('schema')}"`);
  }
  void listen().catch(() => undefined);
  return () => {
    isOver = true;
    void client?.end().catch(() => undefined);
  };
}

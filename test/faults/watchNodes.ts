import { setTimeout as pause } from 'node:timers/promises';
import type { FaultNode } from './history.ts';

/** Those who watch the feed, one at each node. */
export interface Watching {
  /** The places each was told, as they came. */
  told(): readonly (readonly number[])[];
  /** Answers when all were told of this place; false where one was not after a long time. */
  upTo(place: number, waitMs?: number): Promise<boolean>;
  stop(): Promise<void>;
}

/** Watches each node's feed from its beginning. One that is cut off goes on behind the last place it was told. */
export function watchNodes(nodes: readonly FaultNode[]): Watching {
  const over = new AbortController();
  const told: number[][] = nodes.map(() => []);
  const watching = nodes.map(async (node, index) => {
    const mine = told[index] ?? [];
    while (!over.signal.aborted) {
      await node.follow(mine.at(-1) ?? 0, (place) => mine.push(place), over.signal).catch(() => undefined);
      if (!over.signal.aborted) await pause(100);
    }
  });
  return {
    told: () => told,
    async upTo(place, waitMs = LONGEST_MS) {
      for (let left = waitMs; left > 0; left -= 50) {
        if (told.every((places) => (places.at(-1) ?? 0) >= place)) return true;
        await pause(50);
      }
      return false;
    },
    async stop() {
      over.abort();
      await Promise.all(watching);
    },
  };
}

/** Far longer than it takes a node to look for what it missed. */
const LONGEST_MS = 60_000;

import type { Received } from './receivedByMcp.ts';

/** What a run cost its agent, in characters. */
export interface Cost {
  readonly total: number;
  readonly largest: Received;
  /** All answers of one phase together: what has to be held while it is worked on. */
  readonly byPhase: ReadonlyMap<number, number>;
  readonly held: number;
}

/** Sums the answers of a run up. */
export function heldByPhase(received: readonly Received[]): Cost {
  const byPhase = new Map<number, number>();
  for (const { phase, characters } of received) byPhase.set(phase, (byPhase.get(phase) ?? 0) + characters);
  return {
    total: received.reduce((sum, { characters }) => sum + characters, 0),
    largest: received.reduce((a, b) => (b.characters > a.characters ? b : a)),
    byPhase,
    held: Math.max(...byPhase.values()),
  };
}

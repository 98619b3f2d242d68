import { setTimeout as pause } from 'node:timers/promises';
import type { FaultNode, Historian } from './history.ts';
import { HUMAN } from './replayRun.ts';
import type { Seeded } from './seeded.ts';

/** What the human is told about the world. */
export interface HumanWorld {
  readonly historian: Historian;
  readonly nodes: readonly FaultNode[];
  /** The runs that wait for somebody to decide. */
  waiting(): Promise<readonly string[]>;
  isOver(): boolean;
  /** An agent that would like to decide in the human's place. */
  readonly impostor: string;
}

/**
 * Decides at every gate, by the door of the humans: looks at the card at one node and decides at another. Now and then it
 * is decided at two nodes at once, and an agent tries it first.
 */
export async function decideAsHuman(world: HumanWorld, chance: Seeded): Promise<void> {
  const { historian, nodes, impostor } = world;
  const node = () => chance.below(nodes.length);
  while (!world.isOver()) {
    const waiting = await world.waiting().catch(() => []);
    if (waiting.length === 0) await pause(100);
    for (const run of waiting) {
      const card = await nodes[node()]?.card?.(run);
      if (card === null || card === undefined) continue;
      const asked = { kind: 'decide', run, ...card, option: 'Ship' } as const;
      if (chance.happens(0.1)) await historian.ask(impostor, node(), asked);
      const times = chance.happens(0.2) ? 2 : 1;
      await Promise.all(Array.from({ length: times }, () => historian.ask(HUMAN, node(), asked)));
    }
  }
}

import type { MapEdge } from '@phasegate/wire/watching';
import type { DrawnNode } from './layOut.ts';

/** The graph in sentences, one for each phase: for those who hear a page, and where no picture is wanted. */
export function describeGraph(nodes: readonly DrawnNode[], edges: readonly MapEdge[]): readonly string[] {
  return nodes.map((node) => {
    if (node.id === null) return `End${node.status === 'completed' ? ': reached' : ''}.`;
    const parts = [
      `Phase ${node.name}`,
      ...(node.status === null ? [] : [WORDS[node.status] ?? node.status]),
      ...(node.visits > 1 ? [`visited ${node.visits} times`] : []),
      ...(node.mark == null ? [] : [node.mark]),
      ...(node.human ? ['a human decides here'] : []),
      ...(node.parallel ? ['items are worked on side by side'] : []),
    ];
    const ways = edges
      .filter(({ from }) => from === node.id)
      .map(({ to, label, taken }) => {
        const where = nodes.find(({ id }) => id === to)?.name ?? 'the end';
        return `${where}${label === '' ? '' : ` (${label})`}${taken > 0 ? `, taken ${times(taken)}` : ''}`;
      });
    return `${parts.join(', ')}. ${ways.length === 0 ? '' : `Leads to ${ways.join('; ')}.`}`.trim();
  });
}

/** What a phase's place in a run is called. */
export const WORDS: Readonly<Record<string, string>> = {
  completed: 'completed',
  overridden: 'overridden, not completed',
  current: 'at work now',
  waiting: 'waits for a human',
  escalated: 'handed to a human',
  stopped: 'stopped here',
  ahead: 'not reached yet',
};

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

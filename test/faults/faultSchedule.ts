import type { Seeded } from './seeded.ts';

/** One thing that goes wrong. */
export type Fault =
  /** A node is killed, and started again after a while. */
  | { readonly kind: 'kill'; readonly node: number; readonly forMs: number }
  /** A node is paused for longer than leases last, and woken. */
  | { readonly kind: 'pause'; readonly node: number; readonly forMs: number }
  /** A share of the connections to the database is cut. */
  | { readonly kind: 'cut'; readonly share: number }
  /** The database is ended, in order or by a crash, and started again; or it is there and answers nothing. */
  | { readonly kind: 'restart'; readonly how: 'stop' | 'crash' | 'freeze'; readonly forMs: number };

/** A fault, and how long after the one before it comes, in milliseconds. */
export interface ScheduledFault {
  readonly afterMs: number;
  readonly fault: Fault;
}

/** What goes wrong with this seed. Every kind comes once before one comes again. */
export function faultSchedule(
  chance: Seeded,
  { nodes, count, leaseMs }: { readonly nodes: number; readonly count: number; readonly leaseMs: number },
): readonly ScheduledFault[] {
  const kinds: readonly (() => Fault)[] = [
    () => ({ kind: 'kill', node: chance.below(nodes), forMs: chance.below(2_000) }),
    () => ({ kind: 'cut', share: chance.pick([0.3, 0.6, 1]) }),
    () => ({ kind: 'restart', how: chance.pick(['stop', 'crash']), forMs: chance.below(1_500) }),
    () => ({ kind: 'pause', node: chance.below(nodes), forMs: leaseMs * 1.5 + chance.below(2_000) }),
  ];
  let left: (() => Fault)[] = [];
  return Array.from({ length: count }, () => {
    if (left.length === 0) left = [...kinds];
    const [make] = left.splice(chance.below(left.length), 1) as [() => Fault];
    return { afterMs: 500 + chance.below(2_500), fault: make() };
  });
}

/** Chance that is the same for the same seed. */
export interface Seeded {
  /** At least 0 and less than 1. */
  next(): number;
  /** A whole number from 0 to below the count. */
  below(count: number): number;
  /** Whether it comes so often. */
  happens(share: number): boolean;
  pick<T>(all: readonly T[]): T;
  /** Another one that goes on by itself, so that how often one is asked changes nothing for the other. */
  fork(): Seeded;
}

/** Makes it from a whole number. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e37_79b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    happens: (share) => next() < share,
    pick: (all) => all[below(all.length)] as (typeof all)[number],
    fork: () => seeded(Math.floor(next() * 2 ** 32)),
  };
}

/** A source of numbers that gives the same ones for the same seed. */
export interface Random {
  /** A whole number from 0 up to, and without, `below`. */
  int(below: number): number;
  /** True this often, from 0 to 1. */
  chance(often: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** Starts a source from a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (often) => next() < often,
    pick: <T>(from: readonly T[]) => from[int(from.length)] as T,
  };
}

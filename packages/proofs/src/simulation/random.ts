/** A source of numbers from 0 up to, but not, 1. */
export type Random = () => number;

/** Numbers that look random and are the same for the same seed, on every machine. */
export function seededRandom(seed: string): Random {
  // Four hashes of the seed are the state of a small fast counting generator (sfc32).
  let a = hashOf(seed, 0x811c9dc5);
  let b = hashOf(seed, 0x01000193);
  let c = hashOf(seed, 0x9e3779b9);
  let count = 1;
  const next = () => {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  // Seeds that differ in one letter begin alike: the first rounds take them apart.
  for (let round = 0; round < 15; round++) next();
  return next;
}

/** One of the values, each as likely as the others. */
export function oneOf<T>(values: readonly T[], random: Random): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new TypeError('there is nothing to choose from');
  return value;
}

/** One of the names by its share; null for what the shares leave over. */
export function byShare<T extends string>(
  shares: Readonly<Partial<Record<T, number>>>,
  random: Random,
): T | null {
  let rest = random();
  for (const [name, share] of Object.entries(shares) as [T, number][]) {
    if (rest < share) return name;
    rest -= share;
  }
  // Shares that make up the whole may fall short of 1 by what floating point loses.
  return rest < 1e-9 ? ((Object.keys(shares) as T[]).at(-1) ?? null) : null;
}

function hashOf(text: string, start: number): number {
  let hash = start | 0;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash;
}

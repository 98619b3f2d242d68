/** How thoroughly the tests look: `quick` on every change, `full` before it counts, `long` now and then. */
export type Tier = (typeof TIERS)[number];

/** How many random cases a property is tried on in each tier. */
export interface Cases {
  readonly quick: number;
  readonly full: number;
  /** For what finds more the longer it runs: faults and seeds. Default: as many as `full`. */
  readonly long?: number;
}

const TIERS = ['quick', 'full', 'long'] as const;

/** The tier that `PHASEGATE_TIER` names; `quick` where it is not set. */
export const TIER: Tier = tierFrom(process.env.PHASEGATE_TIER);

/** Whether tests that are too slow for every change are to run: `describe.runIf(FULL)`. */
export const FULL = TIER !== 'quick';

/**
 * What random tests draw their cases from. A quick run and CI draw the same ones each time, so that a change is refused
 * for what it did and not for a case that nobody drew before; other runs draw new ones, which is how those are found.
 * `PHASEGATE_SEED` names one: a run that failed prints its own.
 */
export const SEED: number | undefined = seedFrom(process.env);

/** How many cases this tier tries. Every property takes its number from here, so that tiers can set them. */
export function cases(counts: Cases): number {
  return counts[TIER] ?? counts.full;
}

/** As many of a list as this tier tries, from all over it: for what is tried exhaustively. */
export function someOf<T>(all: readonly T[], counts: Cases): readonly T[] {
  const count = Math.min(cases(counts), all.length);
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)] as T);
}

/** The tier of that name. An unknown one is an error: a misspelt `full` must not pass as a quick one. */
export function tierFrom(name: string | undefined): Tier {
  const found = TIERS.find((tier) => tier === (name ?? 'quick'));
  if (found === undefined)
    throw new Error(`\`PHASEGATE_TIER\` is \`${name}\`; it is \`quick\`, \`full\` or \`long\``);
  return found;
}

/** The seed that the environment asks for; none where every run is to draw new cases. */
export function seedFrom({
  PHASEGATE_SEED: named,
  PHASEGATE_TIER: tier,
  CI: ci,
}: NodeJS.ProcessEnv): number | undefined {
  if (named !== undefined) {
    if (!/^-?\d{1,10}$/.test(named))
      throw new Error(`\`PHASEGATE_SEED\` is \`${named}\`; it is a whole number`);
    return Number(named);
  }
  const repeats = tierFrom(tier) === 'quick' || (tierFrom(tier) === 'full' && ci !== undefined && ci !== '');
  return repeats ? 1 : undefined;
}

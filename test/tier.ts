/** How thoroughly the tests look: `quick` on every change, `full` before it counts. */
export type Tier = (typeof TIERS)[number];

/** How many random cases a property is tried on in each tier. */
export interface Cases {
  readonly quick: number;
  readonly full: number;
}

const TIERS = ['quick', 'full'] as const;

/** The tier that `PHASEGATE_TIER` names; `quick` where it is not set. */
export const TIER: Tier = tierFrom(process.env.PHASEGATE_TIER);

/** Whether tests that only the full tier has are to run: `describe.runIf(FULL)`. */
export const FULL = TIER === 'full';

/** How many cases this tier tries. Every property takes its number from here, so that tiers can set them. */
export function cases(counts: Cases): number {
  return counts[TIER];
}

/** The tier of that name. An unknown one is an error: a misspelt `full` must not pass as a quick one. */
export function tierFrom(name: string | undefined): Tier {
  const found = TIERS.find((tier) => tier === (name ?? 'quick'));
  if (found === undefined) throw new Error(`\`PHASEGATE_TIER\` is \`${name}\`; it is \`quick\` or \`full\``);
  return found;
}

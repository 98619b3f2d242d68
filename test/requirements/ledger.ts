import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ring } from '@phasegate/core/model';
import { testFiles } from '../testFiles.ts';
import { type CitedTier, citationsIn } from './citationsIn.ts';

/** Where a requirement comes from: five source designs, our decisions, the adversary, mistakes of others. */
export type Design = (typeof DESIGNS)[number];

/** Every design, in the order they are reported. */
export const DESIGNS = ['S0', 'S1', 'S2', 'S3', 'S4', 'C', 'adv', 'fail'] as const;

/** One line of the ledger. */
export interface Requirement {
  readonly id: string;
  readonly design: Design;
  /** Of the adversary: the weakest ring in which the trick fails. */
  readonly ring?: Ring;
  readonly text: string;
}

/** A test that says it proves a requirement. */
export interface Citation {
  readonly id: string;
  /** Relative to the repository. */
  readonly file: string;
  readonly line: number;
  readonly title: string;
  /** The first tier that runs the test. */
  readonly tier: CitedTier;
}

/** Every requirement there is. */
export function readLedger(): readonly Requirement[] {
  return JSON.parse(readFileSync(new URL('ledger.json', import.meta.url), 'utf8')) as readonly Requirement[];
}

/** Every citation in the titles of the repository's tests. */
export function readCitations(root: string): readonly Citation[] {
  return testFiles(root).flatMap((file) =>
    citationsIn(readFileSync(join(root, file), 'utf8')).map((found) => ({ ...found, file })),
  );
}

/** The tier each proven requirement rests on: the first in which a test of it runs. */
export function tiersOf(citations: readonly Citation[]): ReadonlyMap<string, CitedTier> {
  const tiers = new Map<string, CitedTier>();
  for (const { id, tier } of citations) if (tier === 'quick' || !tiers.has(id)) tiers.set(id, tier);
  return tiers;
}

/** Citations of requirements that do not exist. */
export function unknownCitations(
  ledger: readonly Requirement[],
  citations: readonly Citation[],
): readonly Citation[] {
  const known = new Set(ledger.map((requirement) => requirement.id));
  return citations.filter((citation) => !known.has(citation.id));
}

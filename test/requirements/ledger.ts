import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Ring } from '@phasegate/core';
import { citationsIn } from './citationsIn.ts';

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
}

/** Every requirement there is. */
export function readLedger(): readonly Requirement[] {
  return JSON.parse(readFileSync(new URL('ledger.json', import.meta.url), 'utf8')) as readonly Requirement[];
}

/** Every citation in the titles of the repository's tests. */
export function readCitations(root: string): readonly Citation[] {
  return ['packages', 'test', 'examples']
    .flatMap((folder) => testsUnder(join(root, folder)))
    .sort()
    .flatMap((path) =>
      citationsIn(readFileSync(path, 'utf8')).map((found) => ({ ...found, file: relative(root, path) })),
    );
}

/** Citations of requirements that do not exist. */
export function unknownCitations(
  ledger: readonly Requirement[],
  citations: readonly Citation[],
): readonly Citation[] {
  const known = new Set(ledger.map((requirement) => requirement.id));
  return citations.filter((citation) => !known.has(citation.id));
}

function testsUnder(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testsUnder(path);
    return entry.isFile() && entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

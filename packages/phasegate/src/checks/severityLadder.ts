import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';

/** What blocks now, and a few words on why it is these. */
export interface Rung {
  readonly severities: readonly string[];
  /** The severities there are, where the ladder is the usual one: another could not be placed on it. */
  readonly known: readonly string[] | null;
  readonly when: string;
}

/** Reviews find ever less important things: without this a loop of reviews need not end. */
const LADDER: readonly Step[] = [
  { from: 1, block: ['MUST', 'SHOULD', 'COULD'] },
  { from: 3, block: ['MUST', 'SHOULD'] },
  { from: 5, block: ['MUST'] },
];

/** The severities that block in this visit: those the workflow names, or those of its ladder or the usual one. */
export function blockingSeverities({ severities, ladder }: JsonObject, iteration: number): Rung {
  if (severities !== undefined && ladder !== undefined)
    throw new TypeError('`severities` and `ladder` exclude each other');
  if (severities !== undefined) {
    if (!isNames(severities)) throw new TypeError('`severities` must be names');
    return { severities, known: null, when: '' };
  }
  const steps = (ladder === undefined ? LADDER : readLadder(ladder)).toSorted((a, b) => a.from - b.from);
  // Some step holds for every visit: before the first begins, the first holds.
  const step = steps.findLast(({ from }) => from <= iteration) ?? (steps[0] as Step);
  return {
    severities: step.block,
    known: ladder === undefined ? (LADDER[0] as Step).block : null,
    when: ` (in visit ${iteration} ${step.block.join(', ')} block)`,
  };
}

interface Step {
  readonly from: number;
  readonly block: readonly string[];
}

function readLadder(ladder: Json): readonly Step[] {
  if (!Array.isArray(ladder) || ladder.length === 0) throw new TypeError('`ladder` must be a list of steps');
  return ladder.map((step: Json): Step => {
    const { from, block } = isJsonObject(step) ? step : {};
    if (typeof from !== 'number' || block === undefined || !isNames(block) || block.length === 0)
      throw new TypeError('a step of `ladder` needs `from` and severities to `block`');
    return { from, block };
  });
}

function isNames(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

import type { Run } from '@phasegate/core';
import type { Seen } from './callsUnderWay.ts';
import { type Manner, moves, type Scope } from './mannerOf.ts';
import type { CallRecord, CallsOver } from './ports.ts';

/** What a decision is saved past. */
export interface Past {
  readonly manner: Manner;
  readonly seen: Seen;
}

/** More has to be closed than was. */
export class WholeRun extends Error {}

/** Where no calls are looked at. */
export const NOTHING: Seen = { under: [], void: [], begun: 0 };

/** The calls that must be over for a decision to be written. */
export function overFor(
  before: Run,
  after: Run,
  { scope, seen, manner }: Past & { readonly scope: Scope },
): CallsOver | undefined {
  if (manner === 'ends') return undefined;
  const moved = moves(before, after);
  if (moved && scope !== null) throw new WholeRun();
  if (scope === undefined || (!moved && scope === null)) return undefined;
  return { item: scope, void: seen.void, begun: seen.begun };
}

/** Whether a call was made by somebody who held what it was for, and does not any more. */
export function changesHands({ item }: CallRecord, before: Run, after: Run): boolean {
  if (item === null) return before.holder !== after.holder;
  return before.work.items?.[item]?.holder !== after.work.items?.[item]?.holder;
}

import type { Command, Run } from '@phasegate/core';
import { openItems } from '@phasegate/core/engine';

/** A command, or how to make one for the run as it is; only the runtime's own acts are made. */
export type Asked = Command | { readonly make: (run: Run) => Promise<Command> };

/**
 * How a command deals with calls under way. What an agent asks for waits for them, and is refused where they do not
 * end; a claim asks for another run. What a human asks for, and the clock, has them ended first. What takes a run from
 * its agent is written at once and ends them after: then none can begin any more, however fast the agent calls.
 */
export type Manner = 'waits' | 'asks_once' | 'clears' | 'ends';

/** Which calls a command concerns: of one item, of the whole run (null), or none (undefined). */
export type Scope = string | null | undefined;

/** The manner of a command. */
export function mannerOf({ kind }: Command): Manner {
  switch (kind) {
    case 'stop':
    case 'release':
      return 'ends';
    case 'claim':
      return 'asks_once';
    case 'decide':
    case 'override':
    case 'answer':
    case 'resume':
    case 'migrate':
    case 'fence':
    case 'expire':
    case 'escalate':
      return 'clears';
    case 'complete':
    case 'report_failure':
    case 'report_blocked':
    case 'ask':
    case 'fetch_task':
      return 'waits';
  }
}

/** An item's end concerns that item's calls only; where it is the last one, the run moves under everyone. */
export function scopeOf(asked: Asked): Scope {
  if ('make' in asked) return null;
  if (asked.kind === 'fetch_task') return undefined;
  return ('item' in asked ? asked.item : undefined) ?? null;
}

/** Whether no other item is open. */
export function isLastItem(run: Run, item: string): boolean {
  const [first, ...others] = openItems(run).slice(0, 2);
  return others.length === 0 && (first === undefined || first[0] === item);
}

/** Whether agents may do something else after it. */
export function moves(before: Run, after: Run): boolean {
  return after.epoch !== before.epoch || after.status !== before.status || after.phase !== before.phase;
}

/** How often a command is decided anew where somebody else was faster. */
export function roundsOf(asked: Asked): number {
  if (!('make' in asked) && 'item' in asked) return ITEM_ROUNDS;
  return 'make' in asked || mannerOf(asked) === 'clears' ? CLEAR_ROUNDS : 2;
}

/** Items are worked on side by side, and one that was done does not make another's verdict stale for good. */
const ITEM_ROUNDS = 50;
/** How often calls are ended before a human's command is written past those that come again and again. */
const CLEAR_ROUNDS = 5;

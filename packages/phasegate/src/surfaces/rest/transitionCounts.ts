import { type AuditRecord, own } from '@phasegate/core';
import type { Feed } from '../../runtime/ports.ts';

/** How often phases were left, and how often that was refused, since it was last asked. */
export interface TransitionCounts {
  since(): Promise<{ readonly allowed: number; readonly refused: number }>;
}

/**
 * Counts transitions in the audit, in which each is, through whichever surface and process it came: no door can be
 * forgotten. Read when somebody asks.
 */
export function createTransitionCounts(feed: Pick<Feed, 'after' | 'newest'>): TransitionCounts {
  let cursor: Promise<number> | undefined = feed.newest();
  // The caller hears of a store that cannot be read; until then nobody waits for this.
  cursor.catch(() => undefined);

  async function read(from: number): Promise<{ readonly to: number; allowed: number; refused: number }> {
    const counts = { to: from, allowed: 0, refused: 0 };
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const records = await feed.after(counts.to, PAGE);
      for (const record of records) {
        counts.to = record.id;
        const allowed = transitionIn(record);
        if (allowed !== null) counts[allowed ? 'allowed' : 'refused'] += 1;
      }
      if (records.length < PAGE) break;
    }
    return counts;
  }

  return {
    since() {
      // One after the other: who asks at the same time must not count the same records.
      const reading = (cursor ?? feed.newest()).then(read);
      cursor = reading.then(({ to }) => to);
      cursor.catch(() => {
        cursor = undefined;
      });
      return reading;
    },
  };
}

const PAGE = 1_000;
/** A server that nobody asked for long is not kept busy by the first who does; the rest is counted the next time. */
const MOST_PAGES = 100;

/** Whether a record is the first of somebody's try to complete a phase or an item, and what came of it. */
export function transitionIn({ event, data }: Pick<AuditRecord, 'event' | 'data'>): boolean | null {
  if (event === 'command_refused') return own(data, 'command') === 'complete' ? false : null;
  const recorded = own(data, 'recorded');
  const isLeftOut = own(recorded, 'left_out') === true;
  if (own(own(recorded, 'command'), 'kind') !== 'complete' && !isLeftOut) return null;
  if (event === 'phase_refused') return false;
  return PASSED.has(event) ? true : null;
}

const PASSED: ReadonlySet<string> = new Set(['phase_completed', 'item_completed', 'gate_opened']);

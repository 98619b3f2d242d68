import { type AuditRecord, own } from '@phasegate/core';
import type { Feed } from '../../runtime/ports.ts';
import { breathe } from './routes/searches.ts';

/** What happened since it was last asked. */
export interface RecentCounts {
  /** How often phases were left, and how often that was refused. */
  readonly allowed: number;
  readonly refused: number;
  /** How long each human took at a gate that was opened since the server started, in seconds. */
  readonly gateWaits: readonly number[];
}

/** Counts what the audit has. */
export interface TransitionCounts {
  since(): Promise<RecentCounts>;
}

/**
 * Counts transitions in the audit, in which each is, through whichever surface and process it came: no door can be
 * forgotten. Read when somebody asks.
 */
export function createTransitionCounts(feed: Pick<Feed, 'after' | 'newest'>): TransitionCounts {
  let cursor: Promise<number> | undefined = feed.newest();
  // The caller hears of a store that cannot be read; until then nobody waits for this.
  cursor.catch(() => undefined);

  const gates = createGateWaits();

  async function read(from: number): Promise<RecentCounts & { readonly to: number }> {
    const counts = { to: from, allowed: 0, refused: 0, gateWaits: [] as number[] };
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const records = await feed.after(counts.to, PAGE, { values: 'left_out' });
      for (const record of records) {
        counts.to = record.id;
        const allowed = transitionIn(record);
        if (allowed !== null) counts[allowed ? 'allowed' : 'refused'] += 1;
        const waited = gates.after(record);
        if (waited !== null) counts.gateWaits.push(waited);
      }
      if (records.length < PAGE) break;
      await breathe();
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

/** Tells how long a gate was open when it is closed. */
function createGateWaits(): { after(record: AuditRecord): number | null } {
  const opened = new Map<string, number>();
  return {
    after({ run, event, time }) {
      if (run === null || !GATES.has(event)) return null;
      if (event === 'gate_opened') {
        // Gates that nobody decides at must not fill the memory; of the oldest it is no longer known when they opened.
        const [oldest] = opened.keys();
        if (opened.size >= MOST_GATES && oldest !== undefined) opened.delete(oldest);
        opened.set(run, Date.parse(time));
        return null;
      }
      const since = opened.get(run);
      opened.delete(run);
      return since === undefined ? null : Math.max(0, Date.parse(time) - since) / 1000;
    },
  };
}

const GATES: ReadonlySet<string> = new Set(['gate_opened', 'gate_decided', 'gate_timed_out']);
const MOST_GATES = 10_000;
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

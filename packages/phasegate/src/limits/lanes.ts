/** Tells events of many sessions apart, so that each waits for its own alone. */
export interface Lanes {
  /** The lane of a session that was heard of before, else the one that all new ones share. */
  of(session: string): string;
}

/**
 * Builds it. Anyone can send events in the name of sessions that there are not, each of which would have a lane to itself
 * and begin beside the others: so what was never heard of shares one. Where too many are known, one that was quiet for long
 * makes room, else the newest of those that were heard least often, which is not one that works.
 */
export function createLanes(now: () => number): Lanes {
  const known = new Map<string, { times: number; at: number }>();

  function makeRoom(): void {
    const quietSince = now() - LONG_QUIET_MS;
    const rank = ({ times, at }: { times: number; at: number }) => (at < quietSince ? 0 : times);
    const least = [...known].reduce((one, other) => (rank(other[1]) <= rank(one[1]) ? other : one));
    known.delete(least[0]);
  }

  return {
    of(session) {
      const before = known.get(session);
      if (before === undefined && known.size >= MOST) makeRoom();
      known.set(session, { times: (before?.times ?? 0) + 1, at: now() });
      return before === undefined ? SHARED : session;
    },
  };
}

const SHARED = 'new sessions';
const MOST = 256;
const LONG_QUIET_MS = 20 * 60_000;

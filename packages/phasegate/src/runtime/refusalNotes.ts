import { type JsonObject, own } from '@phasegate/core';
import type { AuditDraft, AuditStore } from './ports.ts';

/** Records refused credentials, so that the one who sends garbage is seen and cannot fill the disk with it. */
export interface RefusalNotes {
  /** On the run's chain where the run is known for certain, else on the project's. */
  note(refusal: {
    readonly run: string | null;
    readonly principal: string;
    /** Where it came from, if that is not in the data. */
    readonly from?: string;
    readonly data: JsonObject;
  }): Promise<void>;
}

/**
 * Keeps at most so many records of each principal, or of each address where nobody is known, a second and an hour in this
 * process; the next one says how many of the same were left out. Where all together had too many, each still has its first
 * few: nobody can use up what would show what others do.
 */
export function createRefusalNotes(parts: {
  readonly store: Pick<AuditStore, 'note'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly perSecond?: number;
}): RefusalNotes {
  const { perSecond = 20 } = parts;
  const shares = new Map<string, Share>();
  let hour = 0;
  let written = 0;

  /** Anyone may come from many addresses: those that are too many have one share. There are as many principals as humans made. */
  function shareOf(name: string): Share {
    const hasOwn = isPrincipal(name) || shares.has(name) || shares.size < MOST_SHARES;
    const key = hasOwn ? name : OTHERS;
    const share = shares.get(key) ?? { second: 0, inSecond: 0, inHour: 0, leftOut: 0 };
    shares.set(key, share);
    return share;
  }

  function turn(now: number): void {
    const current = Math.floor(now / 3_600_000);
    if (current === hour) return;
    hour = current;
    written = 0;
    const isFull = shares.size >= MOST_SHARES;
    for (const [name, share] of shares) {
      share.inHour = 0;
      // What was left out is told with the next record, however late that comes, unless others need the room.
      if (share.leftOut === 0 || (isFull && !isPrincipal(name))) shares.delete(name);
    }
  }

  function hasRoom(share: Share, now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== share.second) share.inSecond = 0;
    share.second = second;
    const most = written < ALL_PER_HOUR ? PER_HOUR : FIRST;
    return share.inSecond < perSecond && share.inHour < most;
  }

  return {
    async note({ run, principal, from, data }) {
      const now = parts.now();
      turn(now);
      const share = shareOf(nameIn(principal, data) ?? from ?? UNKNOWN);
      if (!hasRoom(share, now)) {
        share.leftOut += 1;
        return;
      }
      share.inSecond += 1;
      share.inHour += 1;
      written += 1;
      const told = share.leftOut === 0 ? data : { ...data, left_out: share.leftOut };
      share.leftOut = 0;
      const draft: Omit<AuditDraft, 'event'> = { time: new Date(now).toISOString(), principal, data: told };
      const onRun = run !== null && (await parts.store.note(run, [{ ...draft, event: 'token_refused' }]));
      if (!onRun) await parts.store.note(null, [{ ...draft, event: 'credential_failed' }]);
    },
  };
}

interface Share {
  second: number;
  inSecond: number;
  inHour: number;
  leftOut: number;
}

/** The principal, else what the data says of it or of where it came from. */
function nameIn(principal: string, data: JsonObject): string | null {
  if (principal !== UNKNOWN) return principal;
  const said = own(data, 'principal') ?? own(data, 'address');
  return typeof said === 'string' ? said : null;
}

function isPrincipal(name: string): boolean {
  return name.startsWith('agent:') || name.startsWith('human:');
}

const UNKNOWN = 'unknown';
const OTHERS = 'others';

/** A burst is shown in full; one that does not end must not fill the disk. */
const PER_HOUR = 2000;
const ALL_PER_HOUR = 10_000;
/** Of each, whatever others sent: with all shares of addresses, twice what is for all. */
const FIRST = 20;
const MOST_SHARES = 1000;

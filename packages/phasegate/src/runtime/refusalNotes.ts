import type { JsonObject } from '@phasegate/core';
import type { AuditDraft, AuditStore } from './ports.ts';

/** Records refused credentials, so that the one who sends garbage is seen and cannot fill the disk with it. */
export interface RefusalNotes {
  /** On the run's chain where the run is known for certain, else on the project's. */
  note(refusal: {
    readonly run: string | null;
    readonly principal: string;
    readonly data: JsonObject;
  }): Promise<void>;
}

/** Keeps at most so many records a second and an hour in this process; the next one says how many were left out. */
export function createRefusalNotes(parts: {
  readonly store: AuditStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly perSecond?: number;
}): RefusalNotes {
  const bounds = [createBound(1000, parts.perSecond ?? 20), createBound(3_600_000, PER_HOUR)];
  let leftOut = 0;

  return {
    async note({ run, principal, data }) {
      const now = parts.now();
      if (!bounds.every((bound) => bound.hasRoom(now))) {
        leftOut += 1;
        return;
      }
      for (const bound of bounds) bound.count();
      const told = leftOut === 0 ? data : { ...data, left_out: leftOut };
      leftOut = 0;
      const draft: Omit<AuditDraft, 'event'> = { time: new Date(now).toISOString(), principal, data: told };
      const onRun = run !== null && (await parts.store.note(run, [{ ...draft, event: 'token_refused' }]));
      if (!onRun) await parts.store.note(null, [{ ...draft, event: 'credential_failed' }]);
    },
  };
}

/** A burst is shown in full; one that does not end must not fill the disk. */
const PER_HOUR = 2000;

function createBound(windowMs: number, most: number) {
  let window = 0;
  let written = 0;
  return {
    hasRoom(now: number): boolean {
      const current = Math.floor(now / windowMs);
      if (current !== window) written = 0;
      window = current;
      return written < most;
    },
    count() {
      written += 1;
    },
  };
}

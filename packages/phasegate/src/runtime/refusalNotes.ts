import type { JsonObject } from '@phasegate/core';
import type { AuditDraft, AuditStore } from './ports.ts';

/** Records refused credentials, so that whoever sends garbage is seen and cannot fill the disk with it. */
export interface RefusalNotes {
  /** On the run's chain where the run is known for certain, else on the project's. */
  note(refusal: {
    readonly run: string | null;
    readonly principal: string;
    readonly data: JsonObject;
  }): Promise<void>;
}

/** Keeps at most `perSecond` records a second in this process; the next one says how many were left out. */
export function createRefusalNotes(parts: {
  readonly store: AuditStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly perSecond?: number;
}): RefusalNotes {
  const most = parts.perSecond ?? 20;
  let second = 0;
  let written = 0;
  let leftOut = 0;

  return {
    async note({ run, principal, data }) {
      const now = parts.now();
      if (Math.floor(now / 1000) !== second) {
        second = Math.floor(now / 1000);
        written = 0;
      }
      if (written >= most) {
        leftOut += 1;
        return;
      }
      written += 1;
      const told = leftOut === 0 ? data : { ...data, left_out: leftOut };
      leftOut = 0;
      const draft: Omit<AuditDraft, 'event'> = { time: new Date(now).toISOString(), principal, data: told };
      const onRun = run !== null && (await parts.store.note(run, [{ ...draft, event: 'token_refused' }]));
      if (!onRun) await parts.store.note(null, [{ ...draft, event: 'credential_failed' }]);
    },
  };
}

import { type JsonObject, PhasegateError } from '@phasegate/core';
import type { Masking } from '../masking.ts';
import type { AuditDraft, Hooks, Pause, Store } from '../ports.ts';
import { demandRole } from '../roles.ts';

/** Pauses: a human's word that sessions without a run are free for a while. Runs stay held. */
export function createPauses({
  store,
  now,
  masking,
}: {
  readonly store: Pick<Store, 'kept' | 'keep' | 'humans'>;
  readonly now: () => number;
  readonly masking?: Masking;
}): Pick<Hooks, 'pause' | 'beginPause' | 'endPause'> {
  async function current(): Promise<{ readonly pause: Pause; readonly data: JsonObject } | null> {
    const data = await store.kept(KIND, KEY);
    if (data === undefined || typeof data.until !== 'string') return null;
    const pause = data as unknown as Pause;
    const time = new Date(now()).toISOString();
    // A clock that was put back must not make it longer.
    return pause.until > time && pause.from <= time ? { pause, data } : null;
  }

  function draft(event: 'pause_began' | 'pause_ended', name: string, data: JsonObject): AuditDraft {
    return { time: new Date(now()).toISOString(), principal: `human:${name}`, event, data };
  }

  return {
    pause: async () => (await current())?.pause ?? null,
    async beginPause({ minutes, reason: said }, { principal }) {
      await demandRole(store, principal, { least: 'admin', what: 'a pause' });
      const reason = masking?.mask(said) ?? said;
      if (reason.trim() === '')
        throw new PhasegateError('usage', 'say why, so that the audit can tell', { hint: '--reason TEXT' });
      const from = new Date(now()).toISOString();
      const until = new Date(now() + minutes * 60_000).toISOString();
      const pause = { by: principal.name, reason, from, until };
      const audit = [draft('pause_began', principal.name, pause)];
      await store.keep({ kind: KIND, key: KEY, data: pause }, { run: null, audit });
      return pause;
    },
    async endPause({ principal }) {
      await demandRole(store, principal, { least: 'approver', what: 'ending a pause' });
      const found = await current();
      if (found === null) return false;
      const at = new Date(now()).toISOString();
      const audit = [draft('pause_ended', principal.name, { until: found.pause.until })];
      await store.keep(
        { kind: KIND, key: KEY, data: { ...found.data, until: at } },
        { run: null, audit, was: found.data },
      );
      return true;
    },
  };
}

const KIND = 'pause';
const KEY = 'project';

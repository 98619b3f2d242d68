import type { Run } from '@phasegate/core';
import type { Admitted, Claims, LeaseRecord, LeaseStore, RunStore } from '../ports.ts';
import type { RefusalNotes } from '../refusalNotes.ts';
import type { CheckedToken, PhaseClaims } from '../tokens/signedToken.ts';
import { TOKEN_FAULTS, type TokenFault, tokenRefused } from '../tokens/tokenFaults.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { Renewals } from './renewals.ts';

/** What admission is built from. */
export interface AdmissionParts {
  readonly store: LeaseStore & RunStore;
  readonly tokens: Tokens;
  readonly renewals: Renewals;
  readonly refusals: RefusalNotes;
}

/** Lets in the one who shows a token that is good now. On the path of every call: two reads and nothing wasted. */
export function createAdmission(parts: AdmissionParts): Pick<Claims, 'admit' | 'admitAtOnce'> {
  const { store, tokens, renewals, refusals } = parts;

  async function refuse(fault: TokenFault, claims: PhaseClaims | null): Promise<never> {
    const about =
      claims === null
        ? {}
        : { jti: claims.jti, phase: claims.phase, epoch: claims.epoch, item: claims.item ?? null };
    await refusals.note({
      run: claims?.task_id ?? null,
      principal: claims === null ? 'unknown' : `agent:${claims.agent_id}`,
      data: { credential: 'phase_token', fault, message: TOKEN_FAULTS[fault], ...about },
    });
    throw tokenRefused(fault);
  }

  function welcome(claims: PhaseClaims, run: Run, lease: LeaseRecord): Admitted {
    renewals.renew(lease, run);
    return {
      principal: { kind: 'agent', name: claims.agent_id },
      runId: run.id,
      phase: claims.phase,
      epoch: run.epoch,
      item: claims.item ?? null,
      jti: claims.jti,
    };
  }

  return {
    async admit(token) {
      const pending = tokens.check(token);
      const checked: CheckedToken = pending instanceof Promise ? await pending : pending;
      if (!checked.ok) return refuse(checked.fault, checked.claims);
      const { claims } = checked;
      const [stored, lease] = await Promise.all([
        store.load(claims.task_id),
        store.lease(claims.task_id, claims.item ?? null),
      ]);
      const fault = faultOf(claims, stored?.run, lease);
      if (fault !== null) return refuse(fault, claims);
      return welcome(claims, (stored as { readonly run: Run }).run, lease as LeaseRecord);
    },

    admitAtOnce(token) {
      const claims = tokens.known(token);
      if (claims === null || store.peek === undefined) return null;
      const { run, lease } = store.peek(claims.task_id, claims.item ?? null);
      if (run === undefined || lease === undefined || faultOf(claims, run, lease) !== null) return null;
      return welcome(claims, run, lease);
    },
  };
}

/** What is wrong with a genuine token as things stand. A run that moved on has another epoch; one that ended has no phase. */
function faultOf(
  claims: PhaseClaims,
  run: Run | undefined,
  lease: LeaseRecord | undefined,
): TokenFault | null {
  if (run === undefined) return 'other_run';
  if (run.epoch !== claims.epoch) return 'dead_epoch';
  if (run.phase !== claims.phase) return 'other_phase';
  if (lease?.agent !== claims.agent_id) return 'other_agent';
  return lease.jti === claims.jti || lease.previousJti === claims.jti ? null : 'superseded';
}

import type { Run } from '@phasegate/core';
import type { Admitted, Claims, LeaseRecord, LeaseStore, PresentedToken, RunStore } from '../ports.ts';
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
export function createAdmission(parts: AdmissionParts): Pick<Claims, 'admit' | 'admitAtOnce' | 'present'> {
  const { store, tokens, renewals, refusals } = parts;
  // By their ids, of those that were good when they were shown last, and of those that were not; for a store that knows
  // nothing at once.
  const [goodLately, endedLately] = [new Set<string>(), new Set<string>()];

  function recall(jti: string, isGood: boolean): void {
    if (store.peek !== undefined) return;
    const [known, other] = isGood ? [goodLately, endedLately] : [endedLately, goodLately];
    other.delete(jti);
    known.delete(jti);
    known.add(jti);
    if (known.size > MOST_RECALLED) known.delete(known.values().next().value ?? '');
  }

  async function refuse(fault: TokenFault, claims: PhaseClaims | null, from?: string): Promise<never> {
    const about =
      claims === null
        ? {}
        : { jti: claims.jti, phase: claims.phase, epoch: claims.epoch, item: claims.item ?? null };
    await refusals.note({
      run: claims?.task_id ?? null,
      principal: claims === null ? 'unknown' : `agent:${claims.agent_id}`,
      ...(from === undefined ? {} : { from }),
      data: { credential: 'phase_token', fault, message: TOKEN_FAULTS[fault], ...about },
    });
    throw tokenRefused(fault);
  }

  /** What a token is for as things stand, or what is wrong with it. */
  async function lookAt(token: string): Promise<Good | Faulty> {
    const pending = tokens.check(token);
    const checked: CheckedToken = pending instanceof Promise ? await pending : pending;
    if (!checked.ok) return checked;
    const { claims } = checked;
    const [stored, lease] = await Promise.all([
      store.load(claims.task_id),
      store.lease(claims.task_id, claims.item ?? null),
    ]);
    const fault = faultOf(claims, stored?.run, lease);
    if (fault !== null) return { ok: false, fault, claims };
    return { ok: true, claims, run: (stored as { readonly run: Run }).run, lease: lease as LeaseRecord };
  }

  function welcome(token: string, { claims, run, lease }: Omit<Good, 'ok'>): Admitted {
    renewals.renew(lease, run);
    return {
      principal: { kind: 'agent', name: claims.agent_id },
      runId: run.id,
      phase: claims.phase,
      epoch: run.epoch,
      item: claims.item ?? null,
      jti: claims.jti,
      async demandStill() {
        const found = await lookAt(token);
        if (!found.ok) throw tokenRefused(found.fault);
      },
    };
  }

  /** A token that memory knows to be good; null where it does not. */
  function goodAtOnce(claims: PhaseClaims): Omit<Good, 'ok'> | null {
    if (store.peek === undefined) return null;
    const { run, lease } = store.peek(claims.task_id, claims.item ?? null);
    if (run === undefined || lease === undefined || faultOf(claims, run, lease) !== null) return null;
    return { claims, run, lease };
  }

  async function admit(token: string, from?: string): Promise<Admitted> {
    const found = await lookAt(token);
    if (found.claims !== null) recall(found.claims.jti, found.ok);
    return found.ok ? welcome(token, found) : refuse(found.fault, found.claims, from);
  }

  function presented(token: string, checked: CheckedToken): PresentedToken {
    // A token that holds is checked once more when its turn has come, which finds it remembered: it may have expired.
    if (checked.ok) {
      const { claims } = checked;
      const stands = goodAtOnce(claims) !== null || goodLately.has(claims.jti);
      // INVARIANT: one that was refused takes no place of the agent's: who has it could keep the agent's new token from being
      // looked at.
      const agent = endedLately.has(claims.jti) ? null : claims.agent_id;
      return { agent, stands, admit: (from) => admit(token, from) };
    }
    const { fault, claims } = checked;
    return {
      agent: claims?.agent_id ?? null,
      stands: false,
      admit: (from) => refuse(fault, claims, from),
    };
  }

  return {
    admit,

    present(token) {
      const checked = tokens.check(token);
      return checked instanceof Promise
        ? checked.then((found) => presented(token, found))
        : presented(token, checked);
    },

    admitAtOnce(token) {
      const claims = tokens.known(token);
      const good = claims === null ? null : goodAtOnce(claims);
      return good === null ? null : welcome(token, good);
    },
  };
}

/** As many as agents that work on a server of nodes; one that was forgotten is looked at among the unknown, once. */
const MOST_RECALLED = 4000;

type Faulty = Exclude<CheckedToken, { readonly ok: true }>;

/** A token that is good now, with what it is for. */
interface Good {
  readonly ok: true;
  readonly claims: PhaseClaims;
  readonly run: Run;
  readonly lease: LeaseRecord;
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

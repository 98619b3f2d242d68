import { type Blocker, type Command, type Decision, PhasegateError, type Run } from '@phasegate/core';
import { freeItem } from '@phasegate/core/engine';
import type { Companions } from '../door.ts';
import type { Admitted, AgentPrincipal, Claimed, Claims, Transition, TransitionRequest } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { bareLease, type Handed, handOut } from './leaseTerms.ts';

/** What transitions are built from. */
export interface TransitionParts {
  readonly runtime: Runtime;
  readonly tokens: Tokens;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Claims the run's next free item. */
  take(run: Run, agent: AgentPrincipal): Promise<Claimed | Blocker>;
}

/** Transitions of agents that hold a token: decided, and saved with the next token's id. */
export function createTransitions(parts: TransitionParts): Pick<Claims, 'transition'> {
  const { runtime, tokens, now, take } = parts;

  async function transition(admitted: Admitted, request: TransitionRequest): Promise<Transition> {
    const { principal: agent, runId, epoch } = admitted;
    let handed: Handed | undefined;
    const claimsItem = (after: Run) => request.whole !== true && freeItem(after) !== undefined;
    const beside = (before: Run, { run: after, verdict }: Decision): Companions => {
      handed = undefined;
      if (after.epoch === before.epoch || after.phase === null) return {};
      if (after.holder !== agent.name) return {};
      const mine = { agent, item: null, now: now() };
      const goesOn = verdict.allowed && after.status === 'active' && !claimsItem(after);
      if (!goesOn) return { leases: [{ put: bareLease(after, mine) }] };
      handed = handOut(tokens, after, mine);
      return { leases: [{ put: handed.lease }], notes: [handed.note] };
    };
    const command = commandOf(admitted, request);
    const { submitted, run } = await runtime.submit(runId, command, { principal: agent, admitted, beside });
    const made = handed as Handed | undefined;
    const moved = submitted.verdict.allowed && run.epoch !== epoch && run.holder === agent.name;
    return {
      verdict: submitted.verdict,
      get view() {
        return submitted.view;
      },
      get outcome() {
        return submitted.outcome;
      },
      next: made === undefined ? await nextItem(run, moved) : claimedOf(submitted.view, made),
    };

    /** A parallel phase is resumed at one of its items. */
    async function nextItem(after: Run, entered: boolean): Promise<Claimed | null> {
      if (!entered || after.status !== 'active' || !claimsItem(after)) return null;
      // INVARIANT: the transition has happened, so whatever keeps the next item away is not a failure of this call.
      const taken = await take(after, agent).catch(() => null);
      return taken !== null && 'token' in taken ? taken : null;
    }
  }

  return { transition };
}

function commandOf(admitted: Admitted, request: TransitionRequest): Command {
  const { artifacts, target, outcome, reason, at } = request;
  // INVARIANT: a token for an item completes that item and no other.
  if (admitted.item !== null && request.item !== undefined && request.item !== admitted.item) {
    const message = `the token is for item \`${admitted.item}\`, and the request names another`;
    throw new PhasegateError('not_permitted', message, {
      hint: 'leave `item` out, or use the token of that item',
    });
  }
  const item = admitted.item ?? request.item;
  return {
    kind: 'complete',
    phase: request.phase ?? admitted.phase,
    evidence: artifacts,
    ...(target === undefined ? {} : { target }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason }),
    ...(item === undefined ? {} : { item }),
    ...(at === undefined ? {} : { at }),
  };
}

function claimedOf(view: Claimed['view'], { issued }: Handed): Claimed {
  return { view, item: null, token: issued.token, tokenExpiresAt: issued.expiresAt };
}

import type { WorkedAt } from '../engine/command.ts';
import type { Principal, Run } from '../engine/run.ts';
import type { RunView } from '../engine/viewFor.ts';
import type { JsonObject } from '../json.ts';
import type { Attachment } from '../model/rings.ts';
import type { PhaseId } from '../model/workflow.ts';
import type { Submitted } from '../phasegate.ts';
import type { AuditDraft } from './audit.ts';

/**
 * An agent's hold on a run, or on one item of a parallel phase. Kept beside the run, not in it: any call renews it,
 * and what happened to the run is none of its business.
 */
export interface LeaseRecord {
  readonly run: string;
  /** Key of the item; null for the run itself. */
  readonly item: string | null;
  readonly agent: string;
  /** The run's epoch the lease was taken or moved on in. */
  readonly epoch: number;
  /** ISO time. */
  readonly expiresAt: string;
  /** Of the newest token handed out for this lease; null before the first. */
  readonly jti: string | null;
  /** Of the token before it, which a call under way may still carry. */
  readonly previousJti: string | null;
}

/** What a lease is on. */
export type LeaseKey = Pick<LeaseRecord, 'run' | 'item'>;

/** A lease to be written with a run, or to be dropped with it. */
export type LeaseChange =
  | {
      readonly put: LeaseRecord;
      /** Only where the same agent has the lease that is there: nobody is given one by it. */
      readonly onlyHeld?: true;
    }
  | { readonly drop: LeaseKey };

/** Claims, leases and the phase tokens that go with them. */
export interface Claims {
  /**
   * The next queued run or open item this agent can do, by priority and age; null when there is none. Each is
   * handed out once.
   */
  claim(agent: AgentPrincipal, capabilities: readonly string[]): Promise<Claimed | null>;
  /** Claims this run, or says why not. */
  claimRun(runId: string, agent: AgentPrincipal, capabilities: readonly string[]): Promise<Claimed>;
  /** The same for an agent that is attached in this way; without it, `served`. */
  within(attached: Attachment): Pick<Claims, 'claim' | 'claimRun'>;
  /**
   * The same for an agent that works in files the engine cannot see: it gets no run for which the engine would have to
   * look at them, and that it works so is in the audit.
   */
  readonly away: Pick<Claims, 'claim' | 'claimRun'>;
  /** A fresh token for what the agent holds, in the same epoch. Throws `not_permitted` for anyone else. */
  token(runId: string, agent: AgentPrincipal, item?: string): Promise<Claimed>;
  /**
   * Who a phase token speaks for; renews the lease. Throws `token_invalid`, `token_expired` or `token_dead`, and
   * has recorded that, for what is not ours as one of those that came `from` there. This is on the path of every tool call.
   */
  admit(token: string, from?: string): Promise<Admitted>;
  /**
   * Whose a token is by its signature, before the store is asked: so the one who shows it can wait in that agent's line,
   * and is admitted when its turn comes.
   */
  present(token: string): PresentedToken | Promise<PresentedToken>;
  /**
   * As `admit`, at once, for a token that was seen before and is good now. Null for any other, and where nobody knows
   * at once: nothing is recorded then, and `admit` is to be asked.
   */
  admitAtOnce(token: string): Admitted | null;
  /** Completes the admitted phase or item, and hands out the token for what comes then. */
  transition(admitted: Admitted, request: TransitionRequest): Promise<Transition>;
  /**
   * The agent's process is gone or it gives the run back: the run stands at its last checkpoint, for another. Says
   * whether it held any of it.
   */
  release(
    runId: string,
    agent: AgentPrincipal,
    cause: 'exited' | 'agent_removed' | 'given_back',
  ): Promise<boolean>;
  /**
   * The agent is at work on a run: renews its lease, closes a gate whose time is up, and gives the whole run as it is
   * then, for the one who drives it; never for what an agent is shown. Throws `not_permitted` where another agent holds it.
   */
  attend(runId: string, agent: AgentPrincipal): Promise<Run>;
  /** All leases, or those of one agent, with what `agents` shows of them. */
  leases(agent?: string): Promise<readonly LeaseRecord[]>;
  /** The first of all leases, by run and item. */
  someLeases(limit: number): Promise<readonly LeaseRecord[]>;
  countLeases(): Promise<number>;
}

/** A principal that is an agent. */
export type AgentPrincipal = Principal & { readonly kind: 'agent' };

/** What was claimed, and the token for it. */
export interface Claimed {
  readonly view: RunView;
  /** Key and value of the item, where one was claimed. */
  readonly item: { readonly key: string; readonly value: unknown } | null;
  readonly token: string;
  /** ISO time. */
  readonly tokenExpiresAt: string;
}

/** The holder of a valid token. */
export interface Admitted {
  readonly principal: AgentPrincipal;
  readonly runId: string;
  readonly phase: PhaseId;
  readonly epoch: number;
  readonly item: string | null;
  /** Of the token that was shown; every verdict on a call names it. */
  readonly jti?: string;
  /**
   * Throws as `admit` does where the token that was shown is not good any more, and leaves the record of it to the
   * caller. For what began long after it was admitted; absent where no token was shown.
   */
  readonly demandStill?: () => Promise<void>;
}

/** A token that was shown and whose signature was looked at, and nothing else. */
export interface PresentedToken {
  /** Who was given it, though it may have ended since; null where it is not one of ours. */
  readonly agent: string | null;
  /** Whether it is good as far as memory knows: it says in which line to wait, and allows nothing. The store decides. */
  readonly stands: boolean;
  /** As `admit` of the same token, which does not verify again what did not hold. */
  admit(from?: string): Promise<Admitted>;
}

/** What an agent submits to leave its phase. */
export interface TransitionRequest {
  readonly artifacts: JsonObject;
  /** Where it expects to go; left out, it expects nothing. */
  readonly target?: PhaseId | null;
  /** Key of the item, where the run's own holder completes one of a parallel phase; a token's own item goes first. */
  readonly item?: string;
  /** What the agent means to complete; another than the admitted phase is refused as a skipped one. */
  readonly phase?: PhaseId;
  readonly outcome?: 'ok' | 'fail' | 'iterate';
  readonly reason?: string;
  /** Where the work was begun: a token may be fresher than that. */
  readonly at?: WorkedAt;
  /** Where the next phase has items: go on with a token for the run, rather than claim the first of them. */
  readonly whole?: boolean;
}

/** What came of a transition. */
export interface Transition extends Submitted {
  /** What the agent goes on with; null at the end, at a gate, when refused, or when its item is done. */
  readonly next: Claimed | null;
}

/** Where leases live. */
export interface LeaseStore {
  lease(runId: string, item: string | null): Promise<LeaseRecord | undefined>;
  /** All leases, or those of one agent. */
  leases(agent?: string): Promise<readonly LeaseRecord[]>;
  /** The first of all leases, by run and item. */
  someLeases(limit: number): Promise<readonly LeaseRecord[]>;
  countLeases(): Promise<number>;
  /** What the leases are on that end by then, the earliest first. One that cannot be read keeps none from being found. */
  leasesEnded(now: string): Promise<readonly LeaseKey[]>;
  /**
   * Moves the end of a lease to the one given, and never to an earlier one, if the same agent still holds it in the same
   * epoch; else false. INVARIANT: nothing else of the lease changes, as it may have been read before a newer token.
   */
  renewLease(lease: LeaseRecord): Promise<boolean>;
  /**
   * Puts a lease with a fresh token, and appends to its run's chain, if the agent still holds that in that epoch; else
   * nothing, and false. The token before it stays good. INVARIANT: the run keeps its version, so that nobody who is
   * being judged has to be judged again because somebody asked for a token.
   */
  renewToken(lease: LeaseRecord, audit: readonly AuditDraft[]): Promise<boolean>;
  /**
   * Drops the lease that was seen; false where it is another one by now. INVARIANT: one that was renewed, or is the next
   * holder's, stays.
   */
  dropLease(seen: LeaseRecord): Promise<boolean>;
}

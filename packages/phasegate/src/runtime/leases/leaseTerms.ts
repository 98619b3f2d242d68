import { type PhaseId, type Principal, phaseById, type Run } from '@phasegate/core';
import { LEASE_SECONDS } from '@phasegate/core/model';
import type { AgentPrincipal, AuditDraft, LeaseChange, LeaseRecord } from '../ports.ts';
import type { IssuedToken, Tokens } from '../tokens/tokens.ts';

/** How long an agent may be silent, in milliseconds. */
export function leaseMs(run: Run): number {
  return (run.workflow.enforcement.leaseSeconds ?? LEASE_SECONDS) * 1000;
}

/** When a lease that is taken or renewed now ends. */
export function leaseEnd(run: Run, now: number): string {
  return new Date(now + leaseMs(run)).toISOString();
}

/** A token, the lease that remembers it and the note that says so: all three are written together. */
export interface Handed {
  readonly issued: IssuedToken;
  readonly lease: LeaseRecord;
  readonly note: AuditDraft;
}

/** Makes the token for what an agent holds in a run as it will be, with its lease. Nothing is written here. */
export function handOut(
  tokens: Tokens,
  run: Run,
  to: {
    readonly agent: AgentPrincipal;
    readonly item: string | null;
    readonly now: number;
  },
): Handed {
  const { agent, item, now } = to;
  const issued = tokens.issue({
    task_id: run.id,
    phase: run.phase as PhaseId,
    allowed_tools: phaseById(run.workflow, run.phase)?.tools.allowed ?? [],
    agent_id: agent.name,
    epoch: run.epoch,
    expirySeconds: run.workflow.enforcement.tokenSeconds,
    ...(item === null ? {} : { item }),
  });
  const lease: LeaseRecord = { ...bareLease(run, to), jti: issued.jti };
  const { jti, expiresAt } = issued;
  const data = { jti, phase: run.phase, epoch: run.epoch, item, expires_at: expiresAt };
  const note: AuditDraft = {
    time: later(run.updatedAt, new Date(now).toISOString()),
    principal: `agent:${agent.name}`,
    event: 'token_issued',
    data,
  };
  return { issued, lease, note };
}

/** A lease that no token was issued for yet. */
export function bareLease(
  run: Run,
  {
    agent,
    item,
    now,
  }: { readonly agent: AgentPrincipal; readonly item: string | null; readonly now: number },
): LeaseRecord {
  return {
    run: run.id,
    item,
    agent: agent.name,
    epoch: run.epoch,
    expiresAt: leaseEnd(run, now),
    jti: null,
    previousJti: null,
  };
}

/** The lease of an agent that moved its run on without a token: it goes with the run, and its tokens do not. */
export function movedLease(
  { before, after }: { readonly before: Run; readonly after: Run },
  { principal: { kind, name }, now }: { readonly principal: Principal; readonly now: number },
): { readonly leases?: readonly LeaseChange[] } {
  const stays = after.phase !== null && after.holder === name && before.holder === name;
  if (kind !== 'agent' || after.epoch === before.epoch || !stays) return {};
  // Who started a run itself has none, and is not given one that could run out.
  const put = bareLease(after, { agent: { kind, name }, item: null, now });
  return { leases: [{ put, onlyHeld: true }] };
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

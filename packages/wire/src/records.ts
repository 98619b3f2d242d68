import type { Agent, Claim, Lease, Task } from './answers.ts';

/** A lease as the runtime has it; ids of tokens are nobody's business. */
export interface LeaseFacts extends Omit<Lease, 'expires_at'> {
  readonly expiresAt: string;
}

/** An agent's hold on a run or on one item of it. */
export function encodeLease({ run, item, agent, epoch, expiresAt }: LeaseFacts): Lease {
  return { run, item, agent, epoch, expires_at: expiresAt };
}

/** An agent's hold on a run or on one item of it. */
export function decodeLease({ expires_at, ...lease }: Lease): LeaseFacts {
  return { ...lease, expiresAt: expires_at };
}

/** An agent as the runtime has it. */
export interface AgentFacts extends Pick<Agent, 'name' | 'capabilities' | 'owner'> {
  readonly addedAt: string;
}

/** An agent, and what it holds. */
export function encodeAgent(agent: AgentFacts, leases: readonly Lease[]): Agent {
  const { name, capabilities, addedAt, owner } = agent;
  return {
    name,
    capabilities,
    added_at: addedAt,
    ...(owner === undefined ? {} : { owner }),
    leases: leases.filter(({ agent }) => agent === name),
  };
}

/** An agent. */
export function decodeAgent({ name, capabilities, added_at, owner }: Agent): AgentFacts {
  return { name, capabilities, addedAt: added_at, ...(owner === undefined ? {} : { owner }) };
}

/** Work, and the token for it. */
export function encodeClaim<T extends Task>(
  task: T,
  token: string,
  expiresAt: string,
): Claim & { readonly task: T } {
  return { task, phase_token: token, expires_at: expiresAt };
}

/** An address that is told what happens, and how far its deliveries are. */
export interface WebhookFacts {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly addedAt: string;
  readonly cursor: number;
  readonly failures: number;
  readonly retryAt: string | null;
}

/** An address that is told what happens; its secret is not shown again. */
export function encodeWebhook({
  id,
  url,
  events,
  addedAt,
  cursor,
  failures,
  retryAt,
}: WebhookFacts): Webhook {
  return { id, url, events, added_at: addedAt, cursor, failures, retry_at: retryAt };
}

/** An address that is told what happens. */
export type Webhook = Omit<WebhookFacts, 'addedAt' | 'retryAt'> & {
  readonly added_at: string;
  readonly retry_at: string | null;
};

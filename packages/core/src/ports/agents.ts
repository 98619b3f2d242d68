import type { AuditDraft } from './audit.ts';
import type { UnlockedHuman } from './humans.ts';
import type { AgentPrincipal } from './leases.ts';

/** An agent and the hash of its key. */
export interface AgentRecord {
  readonly name: string;
  /** SHA-256 of the key, hex. The key itself is shown once and kept nowhere. */
  readonly keyHash: string;
  /** What the agent can do; null where nobody said, and then what it says when it claims counts. */
  readonly capabilities: readonly string[] | null;
  readonly addedAt: string;
  /** The human who uses the key: what is done with it counts as that human's own work. Absent: nobody in particular. */
  readonly owner?: string;
  /** ISO time until which the key of a spawned agent is good; renewed by the one who follows it. Absent: until withdrawn. */
  readonly until?: string;
}

/** The agents of a project: who they are, and that a key is theirs. */
export interface Agents {
  list(): Promise<readonly Omit<AgentRecord, 'keyHash' | 'until'>[]>;
  /** Makes a key, shown this once. Needs a human once one is set up. An agent of that name gets a new key. */
  add(
    name: string,
    options: {
      readonly capabilities?: readonly string[];
      /** The key is of the human who makes it. */
      readonly mine?: boolean;
      readonly by: UnlockedHuman | 'spawn' | null;
    },
  ): Promise<{ readonly name: string; readonly key: string }>;
  /**
   * Withdraws a key; runs the agent holds go back to the queue. Throws `agent_unknown`. Needs a human once one is
   * set up, but for a spawned agent, which the one who spawned it withdraws.
   */
  remove(name: string, by: UnlockedHuman | 'spawn' | null): Promise<void>;
  /** The one who spawned an agent is still there: its key is good for a while longer. */
  renew(name: string): Promise<void>;
  /** Withdraws the keys of spawned agents that nobody follows any more. */
  expire(): Promise<void>;
  /** Whose key this is, or null. Compares in constant time; the caller records a failure. */
  identify(key: string): Promise<IdentifiedAgent | null>;
}

/** An agent that showed its key. */
export interface IdentifiedAgent {
  readonly principal: AgentPrincipal;
  readonly capabilities: readonly string[] | null;
}

/** Where agents live, with the hashes of their keys. */
export interface AgentStore {
  agents(): Promise<readonly AgentRecord[]>;
  /** Adds an agent or replaces its key. False, and nothing is changed, where it was removed before a time that is given. */
  putAgent(agent: AgentRecord, audit: readonly AuditDraft[], unlessBefore?: string): Promise<boolean>;
  removeAgent(name: string, audit: readonly AuditDraft[]): Promise<boolean>;
  /** Whether an agent of that name was removed and none has been added since, as it is now. */
  wasRemoved(name: string): Promise<boolean>;
}

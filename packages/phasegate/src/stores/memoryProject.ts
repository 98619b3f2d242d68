import { sameHumans, trustFacts, trustTextOf, withFacts } from '@phasegate/audit';
import type { StoredAgent, StoredHuman, StoredTrust } from '@phasegate/audit/verify';
import type {
  AgentRecord,
  AuditDraft,
  DatabaseBackup,
  HumanRecord,
  ProjectStore,
  TrustRecord,
  WebhookProgress,
  WebhookRecord,
} from '../runtime/ports.ts';

/** What a store in memory knows of the project: who takes part, and who is told. */
export interface MemoryProject {
  readonly parts: ProjectStore;
  /** All there ever were, for `verify`. */
  humans(): readonly StoredHuman[];
  agents(): readonly StoredAgent[];
  acceptances(): readonly StoredTrust[];
}

/** Makes it, with the means to read, to write and to go on with the project's chain. */
export function createMemoryProject(means: {
  readonly asking: <T>(question: () => T) => Promise<T>;
  readonly changing: <T>(work: () => T) => Promise<T>;
  readonly append: (drafts: readonly AuditDraft[]) => void;
}): MemoryProject {
  const { asking, changing, append } = means;
  const people = createRoll<HumanRecord>();
  const agents = createRoll<AgentRecord>();
  const trust: TrustRecord[] = [];
  const webhooks = new Map<string, WebhookRecord & WebhookProgress>();
  const backups: DatabaseBackup[] = [];

  /** When the last agent of a name was removed; null where there is one, or never was. */
  function removedAt(name: string): string | null {
    const times = agents.all().flatMap(([agent, at]) => (agent.name === name ? [at] : []));
    return times.includes(null) ? null : (times.map(String).sort().at(-1) ?? null);
  }

  return {
    humans: () =>
      people
        .all()
        .map(([human, removedAt]) => ({ human, removed: removedAt !== null, removedAt, sealed: true })),
    agents: () => agents.all().map(([agent, at]) => ({ agent, removed: at !== null, sealed: true })),
    acceptances: () => trust.map((record) => ({ trust: record, record })),
    parts: {
      humans: () => asking(() => people.present()),
      putHuman: (human, drafts, among) =>
        changing(() => {
          if (among !== undefined && !sameHumans(among, people.present())) return false;
          const { name, publicKey, addedAt } = human;
          people.put(human, addedAt);
          append(withFacts(drafts, ['human_added', 'passphrase_changed'], { name, publicKey }));
          return true;
        }),
      removeHuman: (name, drafts, among) =>
        changing(() => {
          if (among !== undefined && !sameHumans(among, people.present())) return false;
          if (!people.remove(name, drafts[0]?.time ?? '')) return false;
          append(withFacts(drafts, ['human_removed'], { name }));
          return true;
        }),
      trusted: (hash) => asking(() => trust.findLast((record) => record.hash === hash)),
      trustedBefore: (workflow) => asking(() => trust.findLast((record) => record.workflow === workflow)),
      acceptances: () => asking(() => trust.toReversed()),
      putTrust: (record, drafts) =>
        changing(() => {
          // Refused here as by stores that write it down.
          trustTextOf(record);
          trust.push(record);
          append(withFacts(drafts, ['workflow_trusted'], trustFacts(record)));
        }),

      agents: () => asking(() => agents.present()),
      putAgent: (agent, drafts, unlessBefore = '') =>
        changing(() => {
          const { name, keyHash, addedAt } = agent;
          if ((removedAt(name) ?? unlessBefore) < unlessBefore) return false;
          agents.put(agent, addedAt);
          append(withFacts(drafts, ['agent_added'], { name, keyHash }));
          return true;
        }),
      removeAgent: (name, drafts) =>
        changing(() => {
          if (!agents.remove(name, drafts[0]?.time ?? '')) return false;
          append(withFacts(drafts, ['agent_removed'], { name }));
          return true;
        }),

      wasRemoved: (name) => asking(() => removedAt(name) !== null),

      webhooks: () => asking(() => [...webhooks.values()]),
      putWebhook: (webhook, drafts) =>
        changing(() => {
          webhooks.set(webhook.id, webhook);
          append(drafts);
        }),
      removeWebhook: (id, drafts) =>
        changing(() => {
          if (!webhooks.delete(id)) return false;
          append(drafts);
          return true;
        }),
      putProgress: ({ id, cursor, failures, retryAt }, was, drafts) =>
        changing(() => {
          const webhook = webhooks.get(id);
          if (webhook?.cursor !== was.cursor || webhook.failures !== was.failures) return false;
          webhooks.set(id, { ...webhook, cursor, failures, retryAt });
          append(drafts);
          return true;
        }),

      putBackup: (backup, drafts) =>
        changing(() => {
          backups.unshift(backup);
          append(drafts);
        }),
      databaseBackups: () =>
        asking(() =>
          backups.toSorted((one, other) =>
            one.createdAt < other.createdAt ? 1 : one.createdAt > other.createdAt ? -1 : 0,
          ),
        ),
    },
  };
}

interface Roll<T> {
  /** By name. */
  present(): readonly T[];
  /** Replaces the human of that name, from that time on. */
  put(one: T, time: string): void;
  remove(name: string, time: string): boolean;
  /** Everyone, with when they went, or null. */
  all(): readonly (readonly [one: T, removedAt: string | null])[];
}

/** Those who are gone are kept: what they did refers to them. */
function createRoll<T extends { readonly name: string }>(): Roll<T> {
  const present = new Map<string, T>();
  const former: (readonly [one: T, removedAt: string])[] = [];

  function remove(name: string, time: string): boolean {
    const one = present.get(name);
    if (one === undefined) return false;
    former.push([one, time]);
    return present.delete(name);
  }

  return {
    present: () => [...present.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    put(one, time) {
      remove(one.name, time);
      present.set(one.name, one);
    },
    remove,
    all: () => [...former, ...[...present.values()].map((one) => [one, null] as const)],
  };
}

import { sameHumans, trustFacts, withFacts } from '@phasegate/audit';
import type { ProjectStore } from '../../runtime/ports.ts';
import type { AgentTable } from './agentTable.ts';
import type { BackupTable } from './backupTable.ts';
import type { GroupCommit } from './groupCommit.ts';
import type { HeadTable } from './headTable.ts';
import type { PeopleTable } from './peopleTable.ts';
import type { TrustTable } from './trustTable.ts';
import type { WebhookTable } from './webhookTable.ts';

/** Builds it on its tables. Each change is recorded on the project's chain, with what `verify` holds it against. */
export function projectParts(parts: {
  readonly commits: GroupCommit;
  readonly asking: <T>(question: () => T) => Promise<T>;
  /** What is kept may be behind another process; to be called before it is relied on. */
  readonly lookAround: () => void;
  /** The same once in a turn of the event loop, which is enough for what every call asks. */
  readonly lookOnce: () => void;
  readonly heads: HeadTable;
  readonly people: PeopleTable;
  readonly trust: TrustTable;
  readonly agents: AgentTable;
  readonly webhooks: WebhookTable;
  readonly backups: BackupTable;
  /** ISO time. */
  readonly time: () => string;
}): ProjectStore {
  const { commits, asking, lookAround, lookOnce, heads, people, trust, agents, webhooks, backups, time } =
    parts;

  /** Does the work in a transaction that goes on with the project's chain. */
  function changing<T>(work: () => T): Promise<T> {
    return commits.submit(() => {
      heads.require();
      return work();
    });
  }

  /** Asks what is kept, which may be behind another process. */
  function looking<T>(question: () => T): Promise<T> {
    return asking(() => {
      lookAround();
      return question();
    });
  }

  return {
    humans: () => looking(() => people.humans()),
    putHuman: (human, drafts, among) =>
      changing(() => {
        if (among !== undefined && !sameHumans(among, people.humans())) return false;
        people.putHuman(human);
        const { name, publicKey } = human;
        heads.append(withFacts(drafts, ['human_added', 'passphrase_changed'], { name, publicKey }));
        return true;
      }),
    removeHuman: (name, drafts, among) =>
      changing(() => {
        if (among !== undefined && !sameHumans(among, people.humans())) return false;
        if (!people.removeHuman(name, time())) return false;
        heads.append(withFacts(drafts, ['human_removed'], { name }));
        return true;
      }),
    trusted: (hash) => looking(() => trust.acceptances().find((one) => one.hash === hash)),
    acceptances: () => looking(() => trust.acceptances()),
    trustedBefore: (workflow) => looking(() => trust.acceptances().find((one) => one.workflow === workflow)),
    putTrust: (record, drafts) =>
      changing(() => {
        trust.put(record);
        heads.append(withFacts(drafts, ['workflow_trusted'], trustFacts(record)));
      }),

    agents: () =>
      asking(() => {
        lookOnce();
        return agents.agents();
      }),
    putAgent: (agent, drafts, unlessBefore = '') =>
      changing(() => {
        const { name, keyHash } = agent;
        if ((agents.removedAt(name) ?? unlessBefore) < unlessBefore) return false;
        agents.put(agent);
        heads.append(withFacts(drafts, ['agent_added'], { name, keyHash }));
        return true;
      }),
    removeAgent: (name, drafts) =>
      changing(() => {
        if (!agents.remove(name, time())) return false;
        heads.append(withFacts(drafts, ['agent_removed'], { name }));
        return true;
      }),

    wasRemoved: (name) => asking(() => agents.removedAt(name) !== null),

    webhooks: () => asking(() => webhooks.webhooks()),
    putWebhook: (webhook, drafts) =>
      changing(() => {
        webhooks.put(webhook);
        heads.append(drafts);
      }),
    removeWebhook: (id, drafts) =>
      changing(() => {
        if (!webhooks.remove(id)) return false;
        heads.append(drafts);
        return true;
      }),
    putProgress: (progress, was, drafts) =>
      commits.submit(() => {
        if (drafts.length > 0) heads.require();
        if (!webhooks.putProgress(progress, was)) return false;
        heads.append(drafts);
        return true;
      }),

    putBackup: (backup, drafts) =>
      changing(() => {
        backups.put(backup);
        heads.append(drafts);
      }),
    databaseBackups: () => asking(() => backups.list()),
  };
}

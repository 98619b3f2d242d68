import { canonicalJson, type Json, PhasegateError } from '@phasegate/core';
import type {
  ConfiguredServer,
  GuardedCard,
  HumanStore,
  ServerCard,
  TrustRecord,
  TrustStore,
  UnlockedHuman,
} from '../ports.ts';

/** What acceptance of servers is built from. */
export interface ServerTrustParts {
  readonly store: HumanStore & TrustStore;
  /** The servers of the config as it is now. */
  servers(): Promise<readonly ConfiguredServer[]>;
  /** Signs and keeps an acceptance on the project's chain. */
  keep(human: UnlockedHuman, what: Pick<TrustRecord, 'hash' | 'workflow' | 'files'>): Promise<TrustRecord>;
  accepted(trust: TrustRecord): Promise<boolean>;
  /** Guarded files that changed while no process looked, and that no human has accepted since. */
  openChanges(): Promise<readonly Pick<GuardedCard, 'path'>[]>;
  /** SHA-256, hex. */
  hash(text: string): string;
}

/** Which servers of the config a human has accepted: the config lies where agents work, and what it names is started. */
export interface ServerTrust {
  cards(): Promise<readonly ServerCard[]>;
  accept(name: string, hash: string, human: UnlockedHuman): Promise<TrustRecord>;
}

/** Builds it. */
export function createServerTrust(parts: ServerTrustParts): ServerTrust {
  const { store } = parts;

  async function cards(): Promise<readonly ServerCard[]> {
    const asked = (await store.humans()).length > 0;
    // INVARIANT: what stands in a config that somebody changed is not started, also where it was accepted once.
    const isOpen = asked && (await parts.openChanges()).some(({ path }) => CONFIG.test(path));
    const all = (await parts.servers()).map((server) => ({ ...server, hash: hashOf(server) }));
    return Promise.all(
      all.map(async (server) => ({ ...server, trusted: !asked || (!isOpen && (await isAccepted(server))) })),
    );
  }

  async function isAccepted({ name, hash }: Pick<ServerCard, 'name' | 'hash'>): Promise<boolean> {
    // The last acceptance of this server alone: an entry that was replaced by another is not started again.
    const last = await store.trustedBefore(subjectOf(name));
    return last !== undefined && last.hash === hash && (await parts.accepted(last));
  }

  /** No closure of a workflow has such a text, so neither stands for the other. */
  function hashOf({ name, entry, files }: ConfiguredServer): string {
    const whole: Json = { server: name, entry, files };
    return parts.hash(canonicalJson(whole));
  }

  return {
    cards,
    async accept(name, hash, human) {
      const card = (await cards()).find((one) => one.name === name);
      if (card === undefined) throw new PhasegateError('usage', `the config has no server \`${name}\``);
      if (card.hash !== hash) {
        throw new PhasegateError('usage', `server \`${name}\` changed since it was shown; look again`, {
          hint: 'phasegate trust --servers',
        });
      }
      return parts.keep(human, { hash, workflow: subjectOf(name), files: card.files });
    },
  };
}

/** At the root. */
const CONFIG = /^phasegate\.config\.(?:json|yaml)$/;

/** No workflow can have such an id. */
function subjectOf(name: string): string {
  return `server:${name}`;
}

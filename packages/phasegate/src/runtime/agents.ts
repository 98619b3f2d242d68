import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isCapability, PhasegateError } from '@phasegate/core';
import type { AgentRecord, Agents, Store, UnlockedHuman } from './ports.ts';

/** What agents are built from. */
export interface AgentParts {
  readonly store: Store;
  /** ISO time. */
  readonly now: () => string;
  /** Puts everything an agent holds back into the queue. */
  readonly releaseAll: (agent: string, cause: 'agent_removed') => Promise<void>;
}

/** The agents of a project: who they are, and that a key is theirs. */
export function createAgents({ store, now, releaseAll }: AgentParts): Agents {
  // Spawned agents are withdrawn by whoever spawned them, and that is this process.
  const spawned = new Set<string>();

  /** Who may change the list of agents: a human, and anyone while there is none. */
  async function authorOf(by: UnlockedHuman | null, what: string): Promise<string> {
    if (by !== null) return `human:${by.principal.name}`;
    if ((await store.humans()).length === 0) return 'setup';
    throw new PhasegateError('not_permitted', `a human is set up, so ${what} an agent needs that human`);
  }

  return {
    async list() {
      return (await store.agents()).map(({ name, capabilities, addedAt }) => ({
        name,
        capabilities,
        addedAt,
      }));
    },

    async add(name, { capabilities, by }) {
      demandName(name);
      for (const capability of capabilities ?? []) demandCapability(capability);
      const principal = by === 'spawn' ? SPAWNER : await authorOf(by, 'adding');
      const known = (await store.agents()).some((agent) => agent.name === name);
      // Spawning asks no human, so it must not be a way to another agent's runs.
      if (known && by === 'spawn') throw new PhasegateError('usage', `there is an agent \`${name}\` already`);
      const key = `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;
      const record: AgentRecord = {
        name,
        keyHash: hashOf(key),
        capabilities: capabilities === undefined ? null : [...new Set(capabilities)],
        addedAt: now(),
      };
      const data = { agent: name, capabilities: record.capabilities, replaced: known };
      if (by === 'spawn') spawned.add(name);
      await store.putAgent(record, [{ time: record.addedAt, principal, event: 'agent_added', data }]);
      return { name, key };
    },

    async remove(name, by) {
      const own = by === 'spawn' && spawned.delete(name);
      const principal = own ? SPAWNER : await authorOf(by === 'spawn' ? null : by, 'removing');
      const draft = { time: now(), principal, event: 'agent_removed' as const, data: { agent: name } };
      if (!(await store.removeAgent(name, [draft]))) throw await unknownAgent(store, name);
      await releaseAll(name, 'agent_removed');
    },

    async identify(key) {
      if (key.length > LONGEST_KEY) return null;
      const shown = Buffer.from(hashOf(key), 'hex');
      let found: AgentRecord | null = null;
      // All are compared, each in constant time: how long it takes says nothing about any key.
      for (const agent of await store.agents()) {
        const stored = Buffer.from(agent.keyHash, 'hex');
        if (stored.length === shown.length && timingSafeEqual(stored, shown)) found = agent;
      }
      if (found === null) return null;
      return { principal: { kind: 'agent', name: found.name }, capabilities: found.capabilities };
    },
  };
}

const SPAWNER = 'engine:phasegate';
const KEY_PREFIX = 'pgk_';
const LONGEST_KEY = 200;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
/** Whoever uses the command line or MCP over stdio without a key. */
const LOCAL = 'local';

function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

function demandName(name: string): void {
  if (name === LOCAL) {
    throw new PhasegateError('usage', `\`${LOCAL}\` is the agent that has no key; take another name`);
  }
  if (NAME.test(name)) return;
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  throw new PhasegateError(
    'usage',
    `\`${shown}\` is no name: use up to 64 letters, digits, \`.\`, \`_\`, \`@\` and \`-\``,
  );
}

function demandCapability(capability: string): void {
  if (isCapability(capability)) return;
  throw new PhasegateError('usage', `\`${capability.slice(0, 64)}\` cannot name a capability`);
}

async function unknownAgent(store: Store, name: string): Promise<PhasegateError> {
  const names = (await store.agents()).map((agent) => agent.name).join(', ') || 'none';
  return new PhasegateError('agent_unknown', `there is no agent \`${name.slice(0, 64)}\`; set up: ${names}`);
}

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import { isPrincipalName } from '@phasegate/core/contract';
import { CAPABILITY_FORM, isCapability } from '@phasegate/core/model';
import { onceForAll } from '../limits/onceForAll.ts';
import type { AgentRecord, AgentStore, Agents, HumanStore, LeaseStore, UnlockedHuman } from './ports.ts';
import { demandRole } from './roles.ts';

/** What agents are built from. */
export interface AgentParts {
  readonly store: AgentStore & HumanStore & Pick<LeaseStore, 'leases'>;
  /** ISO time. */
  readonly now: () => string;
  /** Puts everything an agent holds back into the queue. */
  readonly releaseAll: (agent: string, cause: 'agent_removed') => Promise<void>;
}

/** The agents of a project: who they are, and that a key is theirs. */
export function createAgents({ store, now, releaseAll }: AgentParts): Agents {
  // Spawned agents are withdrawn by the one who spawned them, and that is this process; or by time, where it was killed.
  const spawned = new Map<string, AgentRecord>();
  const leaseEnd = () => new Date(Date.parse(now()) + SPAWN_LEASE_MS).toISOString();

  /** Who may change the list of agents: a human, and anyone while there is none. */
  async function authorOf(by: UnlockedHuman | null, what: string): Promise<string> {
    if (by !== null) {
      await demandRole(store, by.principal, { least: 'admin', what: `${what} an agent` });
      return `human:${by.principal.name}`;
    }
    if ((await store.humans()).length === 0) return 'setup';
    throw new PhasegateError('not_permitted', `a human is set up, so ${what} an agent needs that human`);
  }

  // Anyone can show keys, thousands of them at once, before it is known who they are: the store is asked for all who came
  // by then, without a rest after it. A look that was begun before a key was withdrawn is not for who shows it after that.
  const known = onceForAll(
    () => store.agents(),
    async () => undefined,
  );
  let lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * INVARIANT: an agent that was removed does not hold anything for long, also where the process that removed it was ended
   * before it could take that back: its tokens would be good for as long as it used them.
   */
  async function takeBack(): Promise<void> {
    const time = Date.parse(now());
    if (Math.abs(time - lookedAt) < LOOK_EVERY_MS) return;
    lookedAt = time;
    const present = new Set((await store.agents()).map(({ name }) => name));
    const holders = new Set((await store.leases()).map(({ agent }) => agent));
    for (const holder of holders)
      if (!present.has(holder) && (await store.wasRemoved(holder))) await releaseAll(holder, 'agent_removed');
  }

  /**
   * INVARIANT: nobody goes on with what an earlier key of that name holds: its tokens would make new ones without end.
   * Says whether there was one.
   */
  async function endEarlier(name: string, known: boolean, principal: string): Promise<boolean> {
    if (known) {
      spawned.delete(name);
      const data = { agent: name, cause: 'key_replaced' };
      await store.removeAgent(name, [{ time: now(), principal, event: 'agent_removed', data }]);
    }
    // Also where it was removed before, by a process that was ended before it could take back everything.
    const wasThere = await store.wasRemoved(name);
    if (wasThere) await releaseAll(name, 'agent_removed');
    return wasThere;
  }

  return {
    async list() {
      return (await store.agents()).map(({ name, capabilities, addedAt, owner }) => ({
        name,
        capabilities,
        addedAt,
        ...(owner === undefined ? {} : { owner }),
      }));
    },

    async add(name, { capabilities, mine, by }) {
      demandName(
        name,
        (await store.humans()).map((human) => human.name),
      );
      for (const capability of capabilities ?? []) demandCapability(capability);
      const principal = by === 'spawn' ? SPAWNER : await authorOf(by, 'adding');
      const known = (await store.agents()).some((agent) => agent.name === name);
      // Spawning asks no human, so it must not be a way to another agent's runs.
      if (known && by === 'spawn') throw new PhasegateError('usage', `there is an agent \`${name}\` already`);
      const owner = mine === true ? ownerOf(by) : {};
      const wasThere = await endEarlier(name, known, principal);
      const key = `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;
      const record: AgentRecord = {
        name,
        keyHash: hashOf(key),
        capabilities: capabilities === undefined ? null : [...new Set(capabilities)],
        addedAt: now(),
        ...owner,
        ...(by === 'spawn' ? { until: leaseEnd() } : {}),
      };
      const data = { agent: name, capabilities: record.capabilities, replaced: known, ...owner };
      if (by === 'spawn') spawned.set(name, record);
      await store.putAgent(record, [{ time: record.addedAt, principal, event: 'agent_added', data }]);
      // What the earlier key took up meanwhile; nobody has the new one yet.
      if (wasThere) await releaseAll(name, 'agent_removed');
      return { name, key };
    },

    async remove(name, by) {
      const own = by === 'spawn' && spawned.delete(name);
      const principal = own ? SPAWNER : await authorOf(by === 'spawn' ? null : by, 'removing');
      const draft = { time: now(), principal, event: 'agent_removed' as const, data: { agent: name } };
      if (!(await store.removeAgent(name, [draft]))) throw await unknownAgent(store, name);
      await releaseAll(name, 'agent_removed');
    },

    async renew(name) {
      const record = spawned.get(name);
      if (record === undefined) throw await unknownAgent(store, name);
      const there = (await store.agents()).find((agent) => agent.name === name);
      const gone = there === undefined;
      // A human made another of that name: its key is not to be undone.
      if (there !== undefined && there.keyHash !== record.keyHash) {
        spawned.delete(name);
        throw new PhasegateError('agent_unknown', `agent \`${name}\` has another key now`);
      }
      const data = { agent: name, capabilities: record.capabilities, replaced: false };
      const again = { time: now(), principal: SPAWNER, event: 'agent_added' as const, data };
      const renewed = { ...record, until: leaseEnd() };
      // INVARIANT: who was removed stays removed, however often and late this is tried. A key that ran out while its
      // spawner slept is another matter: it was taken away when its time was up, not before.
      const isThere = await store.putAgent(renewed, gone ? [again] : [], record.until);
      if (!isThere) throw await unknownAgent(store, name);
      spawned.set(name, renewed);
    },

    async expire() {
      const instant = now();
      for (const { name, until } of await store.agents()) {
        if (until === undefined || until > instant) continue;
        const data = { agent: name, cause: 'lease_expired' };
        const draft = { time: instant, principal: SPAWNER, event: 'agent_removed' as const, data };
        if (await store.removeAgent(name, [draft])) await releaseAll(name, 'agent_removed');
      }
      await takeBack();
    },

    async identify(key) {
      if (key.length > LONGEST_KEY) return null;
      const shown = Buffer.from(hashOf(key), 'hex');
      let found: AgentRecord | null = null;
      // All are compared, each in constant time: how long it takes says nothing about any key.
      for (const agent of await known()) {
        const stored = Buffer.from(agent.keyHash, 'hex');
        if (stored.length === shown.length && timingSafeEqual(stored, shown)) found = agent;
      }
      if (found === null || (found.until !== undefined && found.until <= now())) return null;
      const owned = found.owner === undefined ? {} : { owner: found.owner };
      return { principal: { kind: 'agent', name: found.name, ...owned }, capabilities: found.capabilities };
    },
  };
}

/** Whose the key is: of the human who makes it, and of nobody else's word. */
function ownerOf(by: UnlockedHuman | 'spawn' | null): { readonly owner: string } {
  if (by !== null && by !== 'spawn') return { owner: by.principal.name };
  throw new PhasegateError('usage', 'a key is yours only where you are a human of the project', {
    hint: 'phasegate humans add NAME',
  });
}

/** How long a spawned agent's key is good after its spawner was last there. */
const SPAWN_LEASE_MS = 60_000;
/** How often it is looked whether somebody who is gone still holds something: that is seldom. */
const LOOK_EVERY_MS = 30_000;
const SPAWNER = 'engine:phasegate';
const KEY_PREFIX = 'pgk_';
const LONGEST_KEY = 200;
/** Who stands in the audit beside agents with a key: anyone who has none, and ourselves. */
const RESERVED: ReadonlySet<string> = new Set(['local', 'engine', 'operator', 'phasegate']);

function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

/** A name that somebody could take for another's is nobody's: anyone who reads the audit sees the name alone. */
function demandName(name: string, humans: readonly string[]): void {
  const plain = name.toLowerCase();
  if (RESERVED.has(plain)) {
    throw new PhasegateError('usage', `\`${name}\` is kept for Phasegate itself; take another name`);
  }
  if (humans.some((human) => human.toLowerCase() === plain)) {
    throw new PhasegateError('usage', `\`${name}\` is the name of a human; take another name`);
  }
  if (isPrincipalName(name)) return;
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  throw new PhasegateError(
    'usage',
    `\`${shown}\` is not a name: use up to 64 letters, digits, \`.\`, \`_\`, \`@\` and \`-\``,
  );
}

function demandCapability(capability: string): void {
  if (isCapability(capability)) return;
  throw new PhasegateError('usage', `\`${capability.slice(0, 64)}\` cannot name a capability`, {
    hint: CAPABILITY_FORM,
  });
}

async function unknownAgent(store: AgentStore, name: string): Promise<PhasegateError> {
  const names = (await store.agents()).map((agent) => agent.name).join(', ') || 'none';
  return new PhasegateError('agent_unknown', `there is no agent \`${name.slice(0, 64)}\`; set up: ${names}`);
}

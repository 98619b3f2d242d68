import type { DatabaseSync } from 'node:sqlite';
import { recordMac, sameMac, tampered } from '@phasegate/audit';
import type { StoredAgent } from '@phasegate/audit/verify';
import type { AgentRecord, Seal } from '../../runtime/ports.ts';
import { lazily, type SqlRow, text, textOrNull } from './statements.ts';

/** The agents. A row put in from outside is nobody's key; every request is asked whose key it shows. */
export interface AgentTable {
  /** By name. Throws `state_tampered` when a row does not match its seal. */
  agents(): readonly AgentRecord[];
  put(agent: AgentRecord): void;
  /** False when there is no such agent. */
  remove(name: string, time: string): boolean;
  /** When the last of that name was removed; null where there is one, or never was. */
  removedAt(name: string): string | null;
  /** To be called when another process may have written. */
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** Opens the table. */
export function openAgentTable(database: DatabaseSync, seal: Seal): AgentTable {
  const readAll = lazily(database, 'SELECT * FROM agents WHERE removed_at IS NULL ORDER BY name');
  const readNamed = lazily(database, 'SELECT * FROM agents WHERE name = ? AND removed_at IS NULL');
  const insert = lazily(
    database,
    'INSERT OR REPLACE INTO agents (name, key_hash, data, removed_at, mac) VALUES (?, ?, ?, ?, ?)',
  );
  const removal = lazily(
    database,
    'SELECT max(removed_at) AS at FROM agents WHERE name = ? HAVING count(*) = count(removed_at)',
  );
  /** Undefined while nobody has asked since it changed. */
  let kept: readonly AgentRecord[] | undefined;
  let changed = false;

  function write(agent: AgentRecord, removedAt: string | null): void {
    const data = JSON.stringify(agent);
    const mac = recordMac(seal, 'agent', [data, removedAt]);
    insert().run(agent.name, agent.keyHash, data, removedAt, mac);
    changed = true;
  }

  function remove(name: string, time: string): boolean {
    // All are looked at before the first is written: a fault must leave nothing behind.
    const found = readNamed()
      .all(name)
      .map((row) => requireSealed(seal, row));
    for (const agent of found) write(agent, time);
    return found.length > 0;
  }

  return {
    agents() {
      kept ??= readAll()
        .all()
        .map((row) => requireSealed(seal, row));
      return kept;
    },
    put(agent) {
      remove(agent.name, agent.addedAt);
      write(agent, null);
    },
    remove,
    removedAt: (name) => textOrNull(removal().get(name) ?? { at: null }, 'at'),
    doubt() {
      kept = undefined;
    },
    committed() {
      if (changed) kept = undefined;
      changed = false;
    },
    discarded() {
      changed = false;
    },
  };
}

/** An agent from its row, with whether the row is sealed. */
export function storedAgent(seal: Seal, row: SqlRow): StoredAgent {
  const [data, removedAt] = [text(row, 'data'), textOrNull(row, 'removed_at')];
  const [name, keyHash] = [text(row, 'name'), text(row, 'key_hash')];
  const unreadable = {
    agent: { name, keyHash, capabilities: [], addedAt: '' },
    removed: false,
    sealed: false,
  };
  if (!sameMac(text(row, 'mac'), recordMac(seal, 'agent', [data, removedAt]))) return unreadable;
  const agent = JSON.parse(data) as AgentRecord;
  if (agent.name !== name || agent.keyHash !== keyHash) return unreadable;
  return { agent, removed: removedAt !== null, sealed: true };
}

function requireSealed(seal: Seal, row: SqlRow): AgentRecord {
  const { agent, sealed } = storedAgent(seal, row);
  if (!sealed) throw tampered(`agent \`${agent.name}\``);
  return agent;
}

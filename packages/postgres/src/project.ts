import {
  recordMac,
  sameHumans,
  sameMac,
  sealedTrust,
  tampered,
  trustFacts,
  withFacts,
} from '@phasegate/audit';
import type { StoredAgent, StoredHuman } from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type {
  AgentRecord,
  AuditDraft,
  HumanRecord,
  KeptRecord,
  ProjectStore,
  Seal,
  WebhookProgress,
  WebhookRecord,
} from '@phasegate/core/ports';
import { coalesced } from './coalesced.ts';
import type { Database, Query } from './database.ts';
import { integer, type Row, text, textOrNull } from './rows.ts';
import { createTrustReader } from './trust.ts';
import type { Writer } from './writer.ts';

/** What is kept for the project as a whole. Each change is recorded on its chain, with what `verify` holds it against. */
export function projectParts(parts: {
  readonly database: Database;
  readonly writer: Writer;
  readonly seal: Seal;
  /** ISO time. */
  readonly time: () => string;
  /** Keeps a mark for other nodes. */
  readonly keep: (mark: KeptRecord) => void;
}): ProjectStore {
  const { database, writer, seal, time } = parts;
  const { query } = database;

  /** Does the work while nobody else of the project changes anything of the kind, and says that it was changed. */
  function changing<T>(
    what: 'agents' | 'people' | null,
    work: (query: Query, note: (drafts: readonly AuditDraft[]) => void) => Promise<T>,
  ): Promise<T> {
    return writer.alone(async (asked, batch) => {
      if (what !== null) await asked('UPDATE touched SET number = number + 1 WHERE what = $1', [what]);
      return work(asked, (drafts) => batch.project(drafts));
    });
  }

  // Every request is asked whose key it shows, so what was read is kept while nobody has changed it.
  const touched = coalesced(async (_: readonly null[]) => {
    const { rows } = await query('SELECT what, number FROM touched');
    const numbers = new Map(rows.map((row) => [text(row, 'what'), integer(row, 'number')]));
    return () => numbers;
  });
  const known = new Map<string, { readonly number: number; readonly answer: unknown }>();

  async function keeping<T>(
    what: 'agents' | 'people',
    question: string,
    answer: () => Promise<T>,
  ): Promise<T> {
    const number = (await touched(null)).get(what) ?? -1;
    const kept = known.get(question);
    if (kept?.number === number) return kept.answer as T;
    const found = await answer();
    if (known.size >= MOST_KEPT) known.clear();
    known.set(question, { number, answer: found });
    return found;
  }

  const trust = createTrustReader(parts);
  const acceptances = () => keeping('people', 'acceptances', trust);

  return {
    humans: () => keeping('people', 'humans', () => humansIn(query, seal)),
    putHuman: (human, drafts, among) =>
      changing('people', async (asked, note) => {
        if (among !== undefined && !sameHumans(among, await humansIn(asked, seal))) return false;
        const { name, publicKey } = human;
        await removeHumans(asked, seal, { name, at: human.changedAt ?? human.addedAt });
        await writeHuman(asked, seal, { human, removedAt: null });
        note(withFacts(drafts, ['human_added', 'passphrase_changed'], { name, publicKey }));
        return true;
      }),
    removeHuman: (name, drafts, among) =>
      changing('people', async (asked, note) => {
        if (among !== undefined && !sameHumans(among, await humansIn(asked, seal))) return false;
        if (!(await removeHumans(asked, seal, { name, at: time() }))) return false;
        note(withFacts(drafts, ['human_removed'], { name }));
        return true;
      }),

    trusted: async (hash) => (await acceptances()).find((one) => one.hash === hash),
    trustedBefore: async (workflow) => (await acceptances()).find((one) => one.workflow === workflow),
    acceptances,
    putTrust: (record, drafts) =>
      changing('people', async (asked, note) => {
        const { workflow, hash } = record;
        const { data, mac } = sealedTrust(seal, record);
        await asked('INSERT INTO trusted (hash, workflow, data, mac) VALUES ($1, $2, $3, $4)', [
          hash,
          workflow,
          data,
          mac,
        ]);
        note(withFacts(drafts, ['workflow_trusted'], trustFacts(record)));
      }),

    agents: () => keeping('agents', 'agents', () => agentsIn(query, seal)),
    putAgent: (agent, drafts, unlessBefore = '') =>
      changing('agents', async (asked, note) => {
        const { name, keyHash } = agent;
        if (((await removedAt(asked, name)) ?? unlessBefore) < unlessBefore) return false;
        await removeAgents(asked, seal, { name, at: agent.addedAt });
        await writeAgent(asked, seal, { agent, removedAt: null });
        note(withFacts(drafts, ['agent_added'], { name, keyHash }));
        return true;
      }),
    removeAgent: (name, drafts) =>
      changing('agents', async (asked, note) => {
        if (!(await removeAgents(asked, seal, { name, at: time() }))) return false;
        note(withFacts(drafts, ['agent_removed'], { name }));
        return true;
      }),
    wasRemoved: async (name) => (await removedAt(query, name)) !== null,

    async webhooks() {
      const { rows } = await query('SELECT * FROM webhooks ORDER BY number');
      return rows.map((row) => {
        const webhook = storedWebhook(seal, row);
        if (webhook === null) throw tampered(`webhook \`${text(row, 'id')}\``);
        return webhook;
      });
    },
    putWebhook: ({ cursor, failures, retryAt, ...record }, drafts) =>
      changing(null, async (asked, note) => {
        const data = JSON.stringify(record);
        await asked(PUT_WEBHOOK, [
          record.id,
          data,
          recordMac(seal, 'webhook', [data]),
          cursor,
          failures,
          retryAt,
        ]);
        note(drafts);
      }),
    removeWebhook: (id, drafts) =>
      changing(null, async (asked, note) => {
        if ((await asked('DELETE FROM webhooks WHERE id = $1', [id])).count === 0) return false;
        note(drafts);
        return true;
      }),
    putProgress: ({ id, cursor, failures, retryAt }, was, drafts) =>
      changing(null, async (asked, note) => {
        const values = [id, cursor, failures, retryAt, was.cursor, was.failures];
        if ((await asked(MOVE_WEBHOOK, values)).count === 0) return false;
        note(drafts);
        return true;
      }),

    putBackup: ({ id, createdAt, path, run, sizeBytes }, drafts) =>
      changing(null, async (asked, note) => {
        await asked(
          'INSERT INTO database_backups (id, created_at, path, run, size_bytes) VALUES ($1, $2, $3, $4, $5)',
          [id, createdAt, path, run, sizeBytes],
        );
        note(drafts);
      }),
    async databaseBackups() {
      const { rows } = await query('SELECT * FROM database_backups ORDER BY created_at DESC, number DESC');
      return rows.map((row) => ({
        id: text(row, 'id'),
        createdAt: text(row, 'created_at'),
        path: text(row, 'path'),
        run: textOrNull(row, 'run'),
        sizeBytes: integer(row, 'size_bytes'),
      }));
    },
  };
}

const MOST_KEPT = 200;
const PUT_WEBHOOK = `INSERT INTO webhooks (id, data, mac, cursor, failures, retry_at) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO UPDATE SET data = excluded.data, mac = excluded.mac, cursor = excluded.cursor,
    failures = excluded.failures, retry_at = excluded.retry_at`;
const MOVE_WEBHOOK = `UPDATE webhooks SET cursor = $2, failures = $3, retry_at = $4
  WHERE id = $1 AND cursor = $5 AND failures = $6`;

/** A human from its row, with whether the row is sealed. */
export function storedHuman(seal: Seal, row: Row): StoredHuman {
  const [data, removedAt] = [text(row, 'data'), textOrNull(row, 'removed_at')];
  const name = text(row, 'name');
  const human = JSON.parse(data) as HumanRecord;
  const sealed =
    sameMac(text(row, 'mac'), recordMac(seal, 'human', [data, removedAt])) &&
    human.name === name &&
    human.publicKey === text(row, 'public_key');
  return {
    human: sealed ? human : { ...human, name, publicKey: '' },
    removed: removedAt !== null,
    removedAt,
    sealed,
  };
}

/** An agent from its row, with whether the row is sealed. */
export function storedAgent(seal: Seal, row: Row): StoredAgent {
  const [data, removedAt] = [text(row, 'data'), textOrNull(row, 'removed_at')];
  const [name, keyHash] = [text(row, 'name'), text(row, 'key_hash')];
  const agent = JSON.parse(data) as AgentRecord;
  const sealed =
    sameMac(text(row, 'mac'), recordMac(seal, 'agent', [data, removedAt])) &&
    agent.name === name &&
    agent.keyHash === keyHash;
  return {
    agent: sealed ? agent : { ...agent, name, keyHash },
    removed: sealed && removedAt !== null,
    sealed,
  };
}

/** A webhook from its row, or null where the row is not sealed. */
export function storedWebhook(seal: Seal, row: Row): (WebhookRecord & WebhookProgress) | null {
  const data = text(row, 'data');
  if (!sameMac(text(row, 'mac'), recordMac(seal, 'webhook', [data]))) return null;
  const record = JSON.parse(data) as WebhookRecord;
  if (record.id !== text(row, 'id')) return null;
  const progress = { cursor: integer(row, 'cursor'), failures: integer(row, 'failures') };
  return { ...record, ...progress, retryAt: textOrNull(row, 'retry_at') };
}

async function humansIn(query: Query, seal: Seal): Promise<readonly HumanRecord[]> {
  const { rows } = await query('SELECT * FROM humans WHERE removed_at IS NULL ORDER BY name');
  // The last human cannot be removed: where one was ever added there is one, or somebody deleted the rows.
  if (rows.length === 0 && (await query(ADDED)).rows[0]?.added === true) {
    throw new PhasegateError('state_tampered', 'a human was set up in this project, and is gone', {
      hint: '`phasegate audit verify` says more; put a backup back',
    });
  }
  return rows.map((row) => humanOf(seal, row));
}

/** Whether the project's chain says that a human was added, or has lost records that may have said so. */
const ADDED = `SELECT count(*) < (SELECT project_seq FROM heads) OR coalesce(bool_or(event = 'human_added'), false) AS added
  FROM audit WHERE era = 0 AND run = 0`;

/** When the last agent of a name was removed; null where there is one, or never was. */
async function removedAt(query: Query, name: string): Promise<string | null> {
  const { rows } = await query(REMOVAL, [name]);
  return textOrNull(rows[0] ?? {}, 'at');
}

const REMOVAL =
  'SELECT max(removed_at) AS at FROM agents WHERE name = $1 HAVING count(*) = count(removed_at)';

async function agentsIn(query: Query, seal: Seal): Promise<readonly AgentRecord[]> {
  const { rows } = await query('SELECT * FROM agents WHERE removed_at IS NULL ORDER BY name');
  return rows.map((row) => agentOf(seal, row));
}

function humanOf(seal: Seal, row: Row): HumanRecord {
  const { human, sealed } = storedHuman(seal, row);
  if (!sealed) throw tampered(`human \`${human.name}\``);
  return human;
}

function agentOf(seal: Seal, row: Row): AgentRecord {
  const { agent, sealed } = storedAgent(seal, row);
  if (!sealed) throw tampered(`agent \`${agent.name}\``);
  return agent;
}

async function writeHuman(
  query: Query,
  seal: Seal,
  { human, removedAt }: { readonly human: HumanRecord; readonly removedAt: string | null },
): Promise<void> {
  const data = JSON.stringify(human);
  const mac = recordMac(seal, 'human', [data, removedAt]);
  await query(
    `INSERT INTO humans (name, public_key, data, removed_at, mac) VALUES ($1, $2, $3, $4, $5) ${REPLACE('public_key')}`,
    [human.name, human.publicKey, data, removedAt, mac],
  );
}

async function writeAgent(
  query: Query,
  seal: Seal,
  { agent, removedAt }: { readonly agent: AgentRecord; readonly removedAt: string | null },
): Promise<void> {
  const data = JSON.stringify(agent);
  const mac = recordMac(seal, 'agent', [data, removedAt]);
  await query(
    `INSERT INTO agents (name, key_hash, data, removed_at, mac) VALUES ($1, $2, $3, $4, $5) ${REPLACE('key_hash')}`,
    [agent.name, agent.keyHash, data, removedAt, mac],
  );
}

const REPLACE = (key: string) =>
  `ON CONFLICT (name, ${key}) DO UPDATE SET data = excluded.data, removed_at = excluded.removed_at, mac = excluded.mac`;

interface Leaving {
  readonly name: string;
  readonly at: string;
}

async function removeHumans(query: Query, seal: Seal, { name, at }: Leaving): Promise<boolean> {
  const { rows } = await query('SELECT * FROM humans WHERE name = $1 AND removed_at IS NULL', [name]);
  for (const human of rows.map((row) => humanOf(seal, row)))
    await writeHuman(query, seal, { human, removedAt: at });
  return rows.length > 0;
}

async function removeAgents(query: Query, seal: Seal, { name, at }: Leaving): Promise<boolean> {
  const { rows } = await query('SELECT * FROM agents WHERE name = $1 AND removed_at IS NULL', [name]);
  for (const agent of rows.map((row) => agentOf(seal, row)))
    await writeAgent(query, seal, { agent, removedAt: at });
  return rows.length > 0;
}

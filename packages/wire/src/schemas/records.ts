import { z } from '@hono/zod-openapi';
import { WORD_LIMIT } from '../limits.ts';
import { gate, lease, runLine, task } from './runs.ts';
import {
  actProof,
  agentName,
  anyJson,
  capabilityList,
  jsonObject,
  listOf,
  textUpTo,
  time,
} from './values.ts';

/** One link of the audit chain. */
export const auditRecord = z
  .object({
    id: z.int().optional().openapi({ description: 'its place among the records of all chains' }),
    seq: z.int(),
    run: z.string().nullable(),
    time,
    principal: z.string(),
    event: z.string(),
    data: anyJson,
    prev: z.string(),
    hash: z.string(),
  })
  .openapi('AuditRecord');

const nextAfter = z
  .int()
  .nullable()
  .openapi({ description: '`after` of the next page; null after the last' });

/** A page of the audit. */
export const auditPage = z
  .object({ records: listOf(auditRecord), next_after: nextAfter })
  .openapi('AuditPage');

/** Records that were looked for. */
export const auditFound = z
  .object({
    records: listOf(auditRecord),
    next_before: z
      .int()
      .nullable()
      .openapi({ description: '`before` of the next page; null at the beginning' }),
    searched: z.int().openapi({ description: 'how many records were looked through' }),
  })
  .openapi('AuditFound');

/** A page of what happened to a run. */
export const eventPage = z
  .object({ events: listOf(auditRecord), next_after: nextAfter })
  .openapi('EventPage');

/** What checking every chain found. */
export const auditReport = z
  .object({
    ok: z.boolean(),
    runs: z.int(),
    records: z.int(),
    unanchored: z.int(),
    overridden: z
      .int()
      .optional()
      .openapi({ description: 'phases that humans overrode; left out where none' }),
    findings: listOf(
      z.object({
        kind: z.string(),
        run: z.string().nullable(),
        seq: z.int().nullable(),
        message: z.string(),
      }),
    ),
    archived: listOf(
      z.object({ file: z.string(), sha256: z.string(), runs: z.int(), verified: z.boolean() }),
    ).optional(),
  })
  .openapi('AuditReport');

/** The agents and what they hold. */
export const agentList = z
  .object({
    agents: listOf(
      z.object({
        name: z.string(),
        capabilities: listOf(z.string()).nullable(),
        added_at: time,
        owner: z.string().optional().openapi({ description: 'the human who uses the key' }),
        leases: listOf(lease),
      }),
    ),
    leases: listOf(lease).openapi({ description: 'every lease, also of those who have no key' }),
  })
  .openapi('AgentList');

/** A new agent. */
export const agentRequest = z
  .strictObject({
    ...actProof,
    name: agentName.regex(/^[A-Za-z0-9][A-Za-z0-9._@-]*$/, {
      error: 'must be letters, digits, `.`, `_`, `@` and `-`, and begin with a letter or digit',
    }),
    capabilities: capabilityList.optional(),
    mine: z
      .boolean()
      .optional()
      .openapi({ description: 'the key is for your own use: your yes does not count on work done with it' }),
  })
  .openapi('AgentRequest', { example: { name: 'agent-7', capabilities: ['typescript'] } });

/** An act that is named by its path alone. */
export const actRequest = z
  .strictObject({ ...actProof })
  .openapi('ActRequest', { example: { passphrase: '…' } });

/** An agent's key, shown this once. */
export const agentKey = z.object({ name: z.string(), key: z.string() }).openapi('AgentKey');

const webhookFields = { id: z.string(), url: z.string(), events: listOf(z.string()), added_at: time };

/** The webhooks and how far each is. */
export const webhookList = z
  .object({
    webhooks: listOf(
      z.object({
        ...webhookFields,
        cursor: z.int(),
        failures: z.int(),
        retry_at: time.nullable(),
      }),
    ),
  })
  .openapi('WebhookList');

/** A new webhook. */
export const webhookRequest = z
  .strictObject({
    ...actProof,
    url: z.string().max(2048).refine(isWebAddress, { error: 'must be an http or https address' }),
    events: z
      .array(textUpTo(64))
      .max(100)
      .readonly()
      .optional()
      .openapi({ description: 'names of events; left out or empty: what a human should look at' }),
  })
  .openapi('WebhookRequest', { example: { url: 'https://example.com/hook', events: ['gate_opened'] } });

/** A webhook with its secret, shown this once. */
export const webhookSecret = z.object({ ...webhookFields, secret: z.string() }).openapi('WebhookSecret');

/** What can be started. */
export const workflowList = z
  .object({
    workflows: listOf(
      z.object({
        id: z.string(),
        title: z.string(),
        description: z.string().optional(),
        params: jsonObject.optional(),
        phases: z.int().nullable().openapi({ description: 'how many' }),
        dynamic: z.boolean().optional(),
        problem: z.string().optional(),
      }),
    ),
  })
  .openapi('WorkflowList');

const truncated = listOf(z.string()).openapi({
  description: 'paths of what was cut so that the snapshot stays under 100 KB',
});

/** What the agent of a token may see of its run. */
export const agentSnapshot = z
  .object({ time, task: z.looseObject(task.partial().shape), truncated })
  .openapi('AgentSnapshot');

/** The project as a human may see it, at one moment. */
export const humanSnapshot = z
  .object({
    time,
    runs: z.record(z.string(), z.int()).openapi({ description: 'how many runs there are, by status' }),
    open: listOf(z.looseObject(runLine.partial().shape)),
    leases: listOf(z.looseObject(lease.partial().shape)),
    waiting: listOf(z.looseObject({ run: z.string().optional(), gate: gate.partial().optional() })),
    events: listOf(z.looseObject(auditRecord.partial().shape)),
    truncated,
  })
  .openapi('HumanSnapshot');

/** A read-only view under 100 KB. */
export const snapshot = z.union([agentSnapshot, humanSnapshot]).openapi('Snapshot');

/** The path of one run. */
export const runPath = z.strictObject({
  id: textUpTo(WORD_LIMIT).openapi({ param: { name: 'id', in: 'path' }, example: 'b7e2' }),
});

/** What an agent is shown at one moment, on the wire. */
export type AgentSnapshotAnswer = z.infer<typeof agentSnapshot>;
/** What a human is shown at one moment, on the wire. */
export type HumanSnapshotAnswer = z.infer<typeof humanSnapshot>;

function isWebAddress(text: string): boolean {
  const address = URL.canParse(text) ? new URL(text) : null;
  return address !== null && ['http:', 'https:'].includes(address.protocol);
}

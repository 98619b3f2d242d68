import { z } from '@hono/zod-openapi';
import { jsonObject, listOf, phaseId, time } from './values.ts';

/** How many runs there are of each status. */
export const runCounts = z
  .object({ runs: z.record(z.string(), z.int()).openapi({ description: 'by status' }) })
  .openapi('RunCounts');

const vote = z.object({ by: z.string(), option: z.string() });

/** All that waits for a human. */
export const inbox = z
  .object({
    items: listOf(
      z.object({
        run: z.string(),
        workflow: z.string(),
        target: z.string().nullable(),
        goal: z.string().optional(),
        goal_by: z.string().optional(),
        kind: z.enum(['gate', 'questions', 'escalation', 'fence']),
        phase: phaseId.nullable(),
        holder: z.string().nullable(),
        since: time,
        expires_at: time.nullable(),
        text: z.string(),
        approvers: listOf(z.string()),
        quorum: z.int(),
        votes: listOf(vote),
        overridden: z
          .int()
          .optional()
          .openapi({ description: 'how many phases a human led the run past; absent where none' }),
      }),
    ),
    next_skip: z
      .int()
      .nullable()
      .openapi({ description: '`skip` of the next page, which has newer runs; null at the end' }),
  })
  .openapi('Inbox');

/** What a list says of runs beside their lines. */
export const runGlances = z
  .object({
    runs: listOf(
      z.object({
        run: z.string(),
        ring: z.string(),
        attempts: z.int(),
        last: z.object({ allowed: z.boolean(), outcome: z.string(), text: z.string() }).nullable(),
      }),
    ),
  })
  .openapi('RunGlances');

const mapScope = z.object({
  allowed_tools: listOf(z.string()),
  forbidden_tools: listOf(z.string()),
  writes: listOf(z.string()),
});

const mapNode = z.object({
  id: phaseId.nullable().openapi({ description: 'null for the end' }),
  name: z.string(),
  human: z.boolean().openapi({ description: 'whether a human decides there' }),
  parallel: z.boolean(),
  status: z.string().nullable(),
  visits: z.int(),
  checks: listOf(z.object({ label: z.string(), class: z.string(), warns: z.boolean() })),
  evidence: listOf(z.string()),
});

const mapEdge = z.object({
  from: phaseId,
  to: phaseId.nullable().openapi({ description: 'null for the end' }),
  label: z.string(),
  human: z.boolean(),
  back: z.boolean(),
  max: z.int().nullable(),
  taken: z.int().openapi({ description: 'how often the run went this way' }),
});

/** A run's way through its workflow. */
export const runMap = z
  .object({
    run: z.string(),
    workflow: z.string(),
    workflow_hash: z.string(),
    nodes: listOf(mapNode),
    edges: listOf(mapEdge),
    items: listOf(
      z.object({
        key: z.string(),
        status: z.string(),
        attempts: z.int(),
        holder: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ).openapi({ description: 'of the current phase, where it is parallel' }),
    tasks: listOf(z.object({ number: z.int(), name: z.string(), fetched: z.boolean() })),
    scope: mapScope.nullable(),
    completions: listOf(
      z.object({
        phase: phaseId,
        visit: z.int(),
        at: time,
        by: z.string(),
        outcome: z.string(),
        evidence: jsonObject,
        word: jsonObject.optional(),
        left_out: listOf(
          z.object({
            of: z.enum(['evidence', 'word']),
            name: z.string().nullable().openapi({
              description:
                'of the value; null: all of it, and the hash is that of the names, each with the hash of its value',
            }),
            sha256: z.string().openapi({ description: 'of the JSON of the value' }),
            size: z.int().openapi({ description: 'in characters of JSON' }),
          }),
        )
          .optional()
          .openapi({ description: 'what is too large for a map; the audit of the run has it' }),
        warnings: listOf(z.string()),
        proven: listOf(
          z.object({
            check: z.string(),
            class: z.string(),
            receipt: z.string().optional(),
            lack: z.string().optional(),
          }),
        ).openapi({ description: 'what the engine established by running something' }),
        approved: z.boolean(),
      }),
    ),
    decisions: listOf(
      z.object({
        gate: z.string(),
        option: z.string(),
        input: z.string().nullable(),
        by: z.string(),
        at: time,
      }),
    ),
    fenced: listOf(jsonObject),
    ways: listOf(phaseId.nullable()).openapi({
      description: 'where an override of the current phase may lead, null for the end',
    }),
    note: z.string().nullable(),
  })
  .openapi('RunMap');

const defect = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  code: z.string(),
  message: z.string(),
});

/** One workflow. */
export const workflowPage = z
  .object({
    id: z.string(),
    title: z.string(),
    description: z.string(),
    path: z.string(),
    format: z.string(),
    hash: z.string().nullable().openapi({ description: 'null where it cannot be loaded' }),
    problems: listOf(defect),
    unaccepted: z
      .boolean()
      .openapi({ description: 'whether it is code that no human has accepted: it was read, and not run' }),
    nodes: listOf(mapNode),
    edges: listOf(mapEdge),
    phases: listOf(
      mapScope.extend({
        id: phaseId,
        name: z.string(),
        human: z.boolean(),
        tasks: z.int(),
        evidence: listOf(z.string()),
      }),
    ),
  })
  .openapi('WorkflowPage');

/** How runs of a workflow fare. */
export const workflowRecord = z
  .object({
    workflow: z.string(),
    runs: z.int().openapi({ description: 'how many were looked at' }),
    phases: listOf(
      z.object({
        phase: phaseId,
        entered: z.int(),
        passed: z.int(),
        refused: z.int(),
        median_seconds: z.number().nullable(),
        slow_seconds: z.number().nullable().openapi({ description: 'nine of ten visits took less' }),
      }),
    ),
  })
  .openapi('WorkflowRecord');

/** What agents did of late. */
export const activity = z
  .object({
    searched: z.int().openapi({ description: 'how many of the newest records it is of' }),
    since: time.nullable(),
    agents: listOf(
      z.object({
        agent: z.string(),
        calls: z.int(),
        denied: z.int(),
        last_at: time,
        last_event: z.string(),
        last_run: z.string().nullable(),
      }),
    ),
    denials: listOf(
      z.object({
        code: z.string(),
        tool: z.string(),
        message: z.string(),
        times: z.int(),
        agents: listOf(z.string()),
        last_at: time,
        last_run: z.string().nullable(),
      }),
    ),
  })
  .openapi('Activity');

/** The humans of a project. */
export const humanList = z
  .object({
    humans: listOf(
      z.object({ name: z.string(), role: z.enum(['viewer', 'approver', 'admin']), added_at: time }),
    ),
  })
  .openapi('HumanList');

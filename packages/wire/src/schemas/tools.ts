import { z } from '@hono/zod-openapi';
import { BATCH_LIMIT, WORD_LIMIT } from '../limits.ts';
import { askHuman, blocker, ruleFields } from './refusals.ts';
import { anyJson, isObject, jsonObject, listOf, orNull, phaseId, textUpTo, time } from './values.ts';

const toolName = textUpTo(WORD_LIMIT).openapi({ example: 'read_files' });

const toolCall = z.strictObject({ tool: toolName, input: jsonObject.optional() }).openapi('ToolCall');

/** One tool call, or a batch of them. */
export const toolRequest = z
  .strictObject({
    tool: toolName.optional(),
    input: jsonObject.optional(),
    calls: z.array(toolCall).min(1).max(BATCH_LIMIT).readonly().optional(),
  })
  .refine(({ tool, calls }) => tool !== undefined || calls !== undefined, {
    path: ['tool'],
    error: 'is missing',
    when: isObject,
  })
  .refine(({ tool, input, calls }) => calls === undefined || (tool === undefined && input === undefined), {
    path: ['calls'],
    error: '`calls` excludes `tool` and `input`',
    when: isObject,
  })
  .openapi('ToolRequest', {
    example: { tool: 'read_files', input: { path: 'src/parser.ts' } },
    oneOf: [{ required: ['tool'] }, { required: ['calls'] }],
  });

const verdictFields = {
  allowed: z.boolean(),
  reason: z.string().optional().openapi({ description: 'why it was refused' }),
  code: z.string().optional().openapi({ example: 'tool_not_allowed' }),
  ...ruleFields,
  next_action: z.string().optional(),
  ask: askHuman,
  would_refuse: listOf(blocker).optional().openapi({ description: 'in permissive mode' }),
};

/** The verdict on one call. */
export const toolVerdict = z.object(verdictFields).openapi('ToolVerdict');

/** The verdict, or those of a batch in its order. */
export const toolVerdicts = z
  .union([toolVerdict, z.object({ results: listOf(toolVerdict) })])
  .openapi('ToolVerdicts');

/** Signed record of something that was run here. */
export const receipt = z
  .object({
    id: z.string(),
    run: z.string(),
    phase: phaseId,
    epoch: z.int(),
    agent: z.string(),
    item: z.string().optional().openapi({ description: 'the item that the token was for' }),
    tool: z.string(),
    input_hash: z.string(),
    output_hash: z.string(),
    ok: z.boolean(),
    exit_code: z.int().nullable(),
    tree: z
      .string()
      .nullable()
      .openapi({ description: 'hash of what the workspace held when a program had run' }),
    tree_before: z.string().optional().openapi({ description: 'the same before it ran' }),
    started_at: time,
    ended_at: time,
    signature: z.string(),
  })
  .openapi('Receipt');

/** What came of one call: refused, or carried out. */
export const toolExecuted = z
  .object({
    ...verdictFields,
    result: z
      .object({
        ok: z.boolean(),
        output: anyJson,
        exit_code: z.int().nullable().optional(),
      })
      .nullable(),
    receipt: orNull(receipt),
  })
  .openapi('ToolExecuted');

/** What came of the call, or of a batch in its order. */
export const toolsExecuted = z
  .union([toolExecuted, z.object({ results: listOf(toolExecuted) })])
  .openapi('ToolsExecuted');

/** Everything that can be carried out here. */
export const toolList = z
  .object({ tools: listOf(z.object({ name: z.string(), description: z.string(), input: jsonObject })) })
  .openapi('ToolList');

import { z } from '@hono/zod-openapi';
import { anyJson, jsonObject, listOf, phaseId, runStatus } from './values.ts';

/** The one legal thing to do next, in parts: `next_action` is the call that does it. */
export const nextStep = z
  .object({
    act: z.enum([
      'complete_phase',
      'get_task',
      'use_allowed_tool',
      'wait_for_human',
      'claim',
      'start',
      'none',
    ]),
    phase: phaseId.optional(),
    task: z.int().optional().openapi({ description: 'number of the task to read' }),
    item: z.string().optional().openapi({ description: 'the next open item of a parallel phase' }),
    text: z.string(),
  })
  .openapi('NextStep');

/** The rule of the definition that refuses. */
export const ruleFields = {
  rule: z
    .string()
    .optional()
    .openapi({ description: 'the rule of the definition that refuses', example: 'writes' }),
  rule_at: z
    .string()
    .optional()
    .openapi({ description: 'the file and line it is written in', example: 'agent_workflow.yaml:14' }),
};

/** How an agent hands its phase to a human. */
export const askHuman = z.string().optional().openapi({ description: 'how to ask a human' });

/** Why something was refused, and the one legal call to make next. */
export const blocker = z
  .object({
    code: z.string().openapi({ example: 'incomplete_checkpoint' }),
    message: z.string(),
    ...ruleFields,
    next_action: z.string(),
    next_step: nextStep.optional(),
  })
  .openapi('Blocker');

/** Checks of `severity: warning` that did not hold. */
export const warnings = listOf(z.object({ code: z.string(), message: z.string() })).openapi({
  description: 'what did not hold and does not block',
});

/** One thing wrong with a request, or with a definition it names. */
export const fieldProblem = z
  .looseObject({
    field: z.string().openapi({ description: 'where in the request', example: 'calls.0.tool' }),
    message: z.string(),
  })
  .openapi('FieldProblem');

/** Every error: the members of RFC 9457, and `error` and `message` beside them. */
export const problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().optional(),
    error: z.string().openapi({ description: 'the code', example: 'request_invalid' }),
    message: z.string(),
    problems: listOf(fieldProblem).optional(),
    blockers: listOf(blocker).optional(),
    ask: askHuman,
    next_action: z.string().optional(),
    hint: z.string().optional(),
    uncertain: z
      .literal(true)
      .optional()
      .openapi({ description: 'it may have been carried out all the same: look before you repeat it' }),
  })
  .openapi('Problem');

/** A refusal by the workflow: a problem with every reason, and what the caller needs to go on. */
export const refusal = z
  .looseObject({
    ...problem.shape,
    status: z.literal(409),
    run_status: runStatus.optional().openapi({ description: "the run's own status" }),
    blockers: listOf(blocker),
    next_action: z.string(),
  })
  .openapi('Refusal');

/** A refused transition. */
export const transitionRefused = z
  .looseObject({
    ...refusal.shape,
    allowed: z.literal(false),
    current_phase: phaseId.nullable(),
    attempt: z.int().optional(),
    missing_evidence: listOf(z.string()).optional(),
    required_format: anyJson.optional(),
    current_phase_content: z.string().optional(),
  })
  .openapi('TransitionRefused');

/** The run has moved on since the work was begun, or while it was judged: nothing was done. */
const runChanged = z
  .looseObject({ ...problem.shape, status: z.literal(409), error: z.literal('run_changed') })
  .openapi('RunChanged');

/** What is handed in for a phase is refused by the workflow, or comes too late for it. */
export function orRunChanged<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, runChanged]);
}

/** The refusal of a phase that is neither current nor completed. */
export const phaseRefused = z
  .looseObject({
    ...problem.shape,
    status: z.literal(409),
    run_status: runStatus.optional().openapi({ description: "the run's own status" }),
    reason: z.string(),
    required_action: z.string(),
    violation_type: z.string(),
    current_phase: phaseId.nullable(),
    current_phase_content: z.string(),
    artifacts_available: jsonObject,
    progress: jsonObject,
    next_action: z.string(),
  })
  .openapi('PhaseRefused');

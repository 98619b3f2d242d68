import { z } from '@hono/zod-openapi';
import { TEXT_LIMIT, WORD_LIMIT } from '../limits.ts';
import { blocker, warnings } from './refusals.ts';
import { gate, run, task } from './runs.ts';
import {
  agentName,
  capabilityList,
  jsonObject,
  listOf,
  orNull,
  phaseId,
  phaseNamed,
  runStatus,
  textUpTo,
  time,
  workedAt,
} from './values.ts';

const token = z.string().openapi({
  description: 'the phase token, for `Authorization: Bearer`; a new one comes with every transition',
  example: 'eyJhbGciOiJIUzI1NiIsImtpZCI6IjEifQ.eyJwaGFzZSI6IlBMQU4ifQ.c2lnbmF0dXJl',
});

/** An agent as its key names it. */
export const agentSelf = z
  .object({
    name: z.string(),
    capabilities: listOf(z.string()).nullable().openapi({ description: 'null where nobody said' }),
  })
  .openapi('AgentSelf');

/** An agent asks for work. */
export const claimRequest = z
  .strictObject({
    agent_id: agentName,
    capabilities: capabilityList.optional(),
    task_id: textUpTo(WORD_LIMIT)
      .optional()
      .openapi({ description: 'this run and no other; left out: the next one in the queue' }),
    workspace: z.enum(['own']).optional().openapi({
      description:
        'the agent works in files of its own that the server cannot see: only runs are handed out in which nothing would have to be looked at',
    }),
  })
  .openapi('ClaimRequest', { example: { agent_id: 'agent-7', capabilities: ['typescript'] } });

/** Work, and the token for it. */
export const claimed = z.object({ task, phase_token: token, expires_at: time }).openapi('Claimed');

/** An agent asks for a fresh token. */
export const tokenRequest = z
  .strictObject({ task_id: textUpTo(WORD_LIMIT), item: textUpTo(WORD_LIMIT).optional() })
  .openapi('TokenRequest', { example: { task_id: 'b7e2' } });

/** An agent gives its work back. */
export const releaseRequest = z
  .strictObject({
    task_id: textUpTo(WORD_LIMIT),
    lost: z.literal(true).optional().openapi({
      description: 'the agent ended before its work was done: this counts as a crash',
    }),
  })
  .openapi('ReleaseRequest', { example: { task_id: 'b7e2' } });

/** The work was given back. */
export const released = z
  .object({ task_id: z.string(), released: z.literal(true), next_action: z.string() })
  .openapi('Released');

/** An agent asks to leave its phase. */
export const transitionRequest = z
  .strictObject({
    target: phaseNamed.nullable().optional().openapi({
      description: 'where the agent expects to go; null for the end; left out, it expects nothing',
    }),
    artifacts: jsonObject.openapi({ description: 'evidence of the phase, by name or type' }),
    outcome: z.enum(['ok', 'fail', 'iterate']).optional(),
    item: textUpTo(WORD_LIMIT).optional().openapi({
      description: 'an item of a parallel phase, for the token of the run; a token for an item names its own',
    }),
    reason: textUpTo(TEXT_LIMIT).optional().openapi({ description: 'why, with outcome `fail`' }),
    phase: phaseNamed.optional().openapi({
      description: 'the phase to be left; another than the current one is refused as a skipped one',
    }),
    at: workedAt,
  })
  .openapi('TransitionRequest', {
    example: { target: 'TDD', artifacts: { plan: { steps: ['write the test'] }, scope: ['src/**'] } },
  });

/** The phase was left. */
export const transitioned = z
  .object({
    allowed: z.literal(true),
    status: runStatus,
    phase: phaseId.nullable().openapi({ description: 'the phase the run is in now; null at the end' }),
    phase_token: token.optional().openapi({ description: 'absent at the end and after an item' }),
    expires_at: time.optional(),
    task: orNull(task),
    run: run.optional().openapi({ description: 'the run as it is now, where `task` is null' }),
    phase_completed: phaseId.optional(),
    item_completed: z.string().optional(),
    message: z.string().optional(),
    would_refuse: listOf(blocker).optional(),
    warnings: warnings.optional(),
    next_action: z.string(),
  })
  .openapi('Transitioned');

/** The checks have passed and a human decides now; the token goes on reading. */
export const transitionWaits = z
  .object({
    allowed: z.literal(true),
    status: z.literal('waiting'),
    phase: phaseId,
    gate: orNull(gate),
    would_refuse: listOf(blocker).optional(),
    warnings: warnings.optional(),
    next_action: z.string(),
  })
  .openapi('TransitionWaits');

/** Work and its token, on the wire. */
export type ClaimedAnswer = z.infer<typeof claimed>;
/** A transition that was made, on the wire. */
export type TransitionedAnswer = z.infer<typeof transitioned>;

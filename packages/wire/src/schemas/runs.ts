import { z } from '@hono/zod-openapi';
import { GOAL_LIMIT, goalProblem } from '@phasegate/core/model';
import { TEXT_LIMIT, WORD_LIMIT } from '../limits.ts';
import { blocker, nextStep, warnings } from './refusals.ts';
import {
  actProof,
  agentName,
  anyJson,
  capabilityList,
  isObject,
  jsonObject,
  listOf,
  orNull,
  phaseId,
  runStatus,
  textUpTo,
  time,
  workedAt,
} from './values.ts';

/** An open gate. What the agent submitted and the context are for humans only. */
export const gate = z
  .object({
    id: z.string().openapi({ example: 'ship#4' }),
    prompt: z.string(),
    options: listOf(z.object({ label: z.string(), requires_input: z.boolean() })),
    expires_at: time.nullable(),
    since: time,
    approvers: listOf(z.string()).optional(),
    quorum: z.int().optional(),
    votes: listOf(z.object({ by: z.string(), option: z.string() })).optional(),
    excluded: listOf(z.string())
      .optional()
      .openapi({ description: 'humans whose yes does not count, as it is their own work' }),
    context: jsonObject.optional(),
    shown: z
      .string()
      .optional()
      .openapi({ description: 'the hash a decision must carry, of all that is shown' }),
  })
  .openapi('Gate');

/** What a phase is told as; absent once a run has ended. */
export const phaseFields = {
  phase: phaseId,
  phase_number: z.number(),
  phase_name: z.string(),
  phase_content: z.string(),
  artifacts_from_previous: jsonObject,
  checkpoint_criteria: jsonObject,
  tasks: listOf(z.object({ number: z.int(), name: z.string() })),
  task_count: z.int(),
  phase_overview: z.string().optional(),
  source_id: z.string().optional(),
};

/** Why a human must act. */
export const escalation = z
  .object({ reason: z.string(), message: z.string(), since: time, blockers: listOf(blocker) })
  .openapi('Escalation');

const goalFields = {
  goal: z
    .string()
    .optional()
    .openapi({ description: 'what the run is to achieve; absent where nobody said' }),
  goal_by: z
    .string()
    .optional()
    .openapi({ description: 'whose words the goal is: `human NAME` or `agent NAME`', example: 'human ada' }),
};

const runFields = {
  workflow: z.string(),
  title: z.string(),
  target: z.string().nullable(),
  ...goalFields,
  params: jsonObject,
  status: runStatus,
  mode: z.string(),
  ring: z.string(),
  folder: z
    .string()
    .optional()
    .openapi({ description: "the git worktree the run works in; left out: the project's own folder" }),
  trusted: z.boolean(),
  epoch: z.int(),
  holder: z.string().nullable(),
  ...z.object(phaseFields).partial().shape,
  phase: phaseId.nullable(),
  current_phase: phaseId.nullable(),
  completed_phases: listOf(phaseId),
  progress: z.object({ completed: z.int(), current: z.number().nullable(), total: z.int() }),
  attempts: z.int(),
  feedback: z.string().nullable(),
  violations: listOf(z.object({ path: z.string(), how: z.string(), by: z.string().optional() }))
    .optional()
    .openapi({ description: "what was changed outside the phase's scope, where the fence refused it" }),
  proven: listOf(
    z.object({
      phase: z.union([z.string(), z.number()]),
      check: z.string(),
      class: z.enum(['claimed', 'observed', 'verified']),
      receipt: z.string().optional(),
      lack: z.string().optional(),
    }),
  )
    .optional()
    .openapi({ description: 'what the engine established by running something, with its class and receipt' }),
  waits_for: z
    .object({ run: z.string(), workflow: z.string(), status: runStatus })
    .optional()
    .openapi({ description: 'the run that has the workspace, for which this one waits in the queue' }),
  overrides: listOf(
    z.object({ phase: phaseId, to: phaseId.nullable(), reason: z.string(), by: z.string(), at: time }),
  )
    .optional()
    .openapi({ description: 'phases that a human led the run past; they are not completed' }),
  gate: orNull(gate),
  questions: listOf(z.object({ text: z.string(), options: listOf(z.string()) })),
  answers: listOf(
    z.object({
      question: z.int(),
      text: z.string(),
      by: z.string(),
      at: time,
      elicited: z.boolean(),
      asked: z.string().optional(),
    }),
  ),
  escalation: orNull(escalation),
  reason: z.string().nullable(),
  started_at: time,
  updated_at: time,
  next_action: z.string().openapi({ description: 'the one legal call to make next' }),
  next_step: nextStep,
};

/** One run as its reader may see it. */
export const run = z.object({ run: z.string(), ...runFields }).openapi('Run');

/** A run, or an item of its phase, as the agent that works on it sees it. */
export const task = z
  .object({
    id: z.string(),
    ...runFields,
    item: z.object({ key: z.string(), value: anyJson }).optional(),
  })
  .openapi('Task');

/** One line of the list of runs. */
export const runLine = z
  .object({
    run: z.string(),
    workflow: z.string(),
    target: z.string().nullable(),
    ...goalFields,
    status: runStatus,
    phase: phaseId.nullable(),
    holder: z.string().nullable(),
    epoch: z.int(),
    priority: z.number(),
    capabilities: listOf(z.string()),
    overridden: z
      .int()
      .optional()
      .openapi({ description: 'how many phases a human led it past; left out where none' }),
    started_at: time,
    updated_at: time,
  })
  .openapi('RunLine');

/** A page of runs, newest first. */
export const runList = z
  .object({
    runs: listOf(runLine),
    next_offset: z.int().nullable().openapi({ description: 'of the next page; null after the last' }),
  })
  .openapi('RunList');

const goal = z
  .string()
  .superRefine((text, { addIssue }) => {
    const problem = goalProblem(text);
    if (problem !== null) addIssue({ code: 'custom', message: problem });
  })
  .openapi({
    description: 'what the run is to achieve, kept as it is for the whole run',
    minLength: 1,
    maxLength: GOAL_LIMIT,
    example: 'add a subtract function',
  });

/** What a run is started with. */
export const startRequest = z
  .strictObject({
    ...actProof,
    workflow: textUpTo(WORD_LIMIT * 4),
    params: jsonObject.optional(),
    options: jsonObject.optional().openapi({ description: 'another name of `params`' }),
    target: textUpTo(WORD_LIMIT * 4)
      .nullable()
      .optional(),
    goal: goal.optional(),
    queue: z.boolean().optional(),
    priority: z.int().min(-1000).max(1000).optional(),
    capabilities: capabilityList.optional(),
  })
  .openapi('StartRequest', {
    example: { workflow: 'tdd', params: { mode: 'full' }, target: 'src/parser.ts', queue: true },
  });

/** A run that was made. */
export const started = z
  .object({
    run: z.string(),
    workflow: z.string(),
    status: runStatus,
    phase: phaseId.nullable(),
    ring: z.string(),
    trusted: z.boolean(),
    next_action: z.string(),
    would_refuse: listOf(blocker).optional(),
    warnings: warnings.optional(),
  })
  .openapi('Started');

/** One phase, as `get_current_phase` gives it. */
export const phase = z
  .object({
    run: z.string(),
    status: runStatus,
    ...goalFields,
    ...z.object(phaseFields).partial().shape,
    phase: phaseId.nullable(),
    message: z.string().optional(),
    gate: orNull(gate),
    next_action: z.string(),
  })
  .openapi('Phase');

/** One task of a phase, as `get_task` gives it. */
export const phaseTask = z
  .looseObject({
    run: z.string(),
    phase: phaseId,
    task_number: z.int(),
    task_content: z.string(),
    source: z.enum(['static', 'dynamic']),
    next_action: z.string(),
  })
  .openapi('PhaseTask');

/** An agent's questions to a human. */
export const questionsRequest = z
  .strictObject({
    questions: z
      .array(
        z.strictObject({
          text: textUpTo(TEXT_LIMIT),
          options: z.array(textUpTo(WORD_LIMIT)).min(2).max(3).readonly(),
        }),
      )
      .min(1)
      .max(3)
      .readonly(),
    at: workedAt,
  })
  .openapi('QuestionsRequest', {
    example: { questions: [{ text: 'Which database?', options: ['SQLite', 'PostgreSQL'] }] },
  });

/** Why an agent cannot go on. */
export const blockedRequest = z
  .strictObject({ reason: textUpTo(TEXT_LIMIT), at: workedAt })
  .openapi('BlockedRequest', { example: { reason: 'the fixture the plan names does not exist' } });

/** The gate a run waits at, as a human is shown it. */
export const gateCard = z
  .object({
    gate: z.string(),
    card: jsonObject,
    shown: z.string().openapi({ description: 'the hash of the card; a decision carries it' }),
  })
  .openapi('GateCard');

/** A human's decision at a gate. */
export const decisionRequest = z
  .strictObject({
    ...actProof,
    gate: textUpTo(WORD_LIMIT),
    option: textUpTo(WORD_LIMIT),
    input: z.string().max(TEXT_LIMIT).optional(),
    shown: textUpTo(WORD_LIMIT).openapi({ description: 'the hash of what was displayed' }),
  })
  .openapi('DecisionRequest', {
    example: { gate: 'ship#4', option: 'Approve', shown: '9f86d081884c7d659a2feaa0c55ad015' },
  });

/** A human's answer to one question: one of its options, or other words. */
export const answerRequest = z
  .strictObject({
    ...actProof,
    question: z.int().min(1).max(3),
    option: textUpTo(WORD_LIMIT).optional(),
    text: textUpTo(TEXT_LIMIT).optional(),
  })
  .refine(({ option, text }) => option !== undefined || text !== undefined, {
    path: ['option'],
    error: '`option` or `text` is missing',
    when: isObject,
  })
  .refine(({ option, text }) => option === undefined || text === undefined, {
    path: ['text'],
    error: '`option` and `text` exclude each other',
    when: isObject,
  })
  .openapi('AnswerRequest', {
    example: { question: 1, option: 'SQLite' },
    oneOf: [{ required: ['option'] }, { required: ['text'] }],
  });

/** A human lets an escalated run go on. */
export const resumeRequest = z
  .strictObject({ ...actProof, note: textUpTo(TEXT_LIMIT).optional() })
  .openapi('ResumeRequest', { example: { note: 'the fixture is there now' } });

/** A human ends a run. */
export const stopRequest = z
  .strictObject({ ...actProof, reason: textUpTo(TEXT_LIMIT) })
  .openapi('StopRequest', { example: { reason: 'no longer needed' } });

/** A human leads a run past the phase it is in. */
export const overrideRequest = z
  .strictObject({
    ...actProof,
    reason: textUpTo(TEXT_LIMIT),
    to: phaseId
      .nullable()
      .optional()
      .openapi({ description: 'where it leads, null for the end; needed where the phase has several ways' }),
    epoch: z.int().optional().openapi({
      description: '`epoch` of the run that was displayed; where it has moved since, the answer is 409',
    }),
  })
  .openapi('OverrideRequest', { example: { reason: 'the registry is down, and the fix cannot wait' } });

/** An agent's hold on a run or an item. */
export const lease = z
  .object({
    run: z.string(),
    item: z.string().nullable(),
    agent: agentName,
    epoch: z.int(),
    expires_at: time,
  })
  .openapi('Lease');

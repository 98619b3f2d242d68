import type { JsonObject } from '@phasegate/core';

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { type: 'integer' };
const FLAG: JsonObject = { type: 'boolean' };
const FREE: JsonObject = { type: 'object' };

/** A phase id in an answer; null where a run has ended. */
const PHASE_ID: JsonObject = { type: ['string', 'number', 'null'] };

const BLOCKERS = listOf({ code: TEXT, message: TEXT, rule: TEXT, rule_at: TEXT, next_action: TEXT });
const WARNINGS = listOf({ code: TEXT, message: TEXT });

/**
 * Every field that an answer about a session may have, and what is inside it: all that MCP says. Values of authors and
 * agents (evidence, artifacts, criteria) are free.
 */
export const SESSION_FIELDS = {
  session_id: TEXT,
  status: { enum: ['queued', 'active', 'waiting', 'escalated', 'completed', 'stopped'] },
  next_action: { type: 'string', description: 'the one legal call to make next' },
  error: TEXT,
  message: TEXT,
  hint: TEXT,
  workflow: TEXT,
  target: { type: ['string', 'null'] },
  goal: TEXT,
  goal_by: TEXT,
  ring: TEXT,
  trusted: FLAG,
  resumed: FLAG,
  workflow_overview: objectOf({
    workflow: TEXT,
    title: TEXT,
    description: TEXT,
    total_phases: COUNT,
    phases: listOf({ phase: PHASE_ID, phase_number: COUNT, phase_name: TEXT }),
  }),
  phase: PHASE_ID,
  phase_number: COUNT,
  phase_name: TEXT,
  phase_content: TEXT,
  phase_overview: TEXT,
  source_id: TEXT,
  artifacts_from_previous: FREE,
  checkpoint_criteria: FREE,
  tasks: listOf({ number: COUNT, name: TEXT }),
  task_count: COUNT,
  current_phase: PHASE_ID,
  completed_phases: { type: 'array', items: { type: ['string', 'number'] } },
  progress: objectOf({ completed: COUNT, current: { type: ['number', 'null'] }, total: COUNT }),
  attempts: COUNT,
  feedback: TEXT,
  gate: {
    ...objectOf({
      id: TEXT,
      prompt: TEXT,
      options: listOf({ label: TEXT, requires_input: FLAG }),
      expires_at: TEXT,
    }),
    type: ['object', 'null'],
  },
  violations: listOf({ path: TEXT, how: TEXT, by: TEXT }),
  overrides: listOf({ phase: PHASE_ID, reason: TEXT, by: TEXT }),
  proven: listOf({
    phase: { type: ['string', 'number'] },
    check: TEXT,
    class: TEXT,
    receipt: TEXT,
    lack: TEXT,
  }),
  questions: listOf({ text: TEXT, options: { type: 'array', items: TEXT } }),
  answers: listOf({ question: COUNT, asked: TEXT, text: TEXT, by: TEXT, elicited: FLAG }),
  escalation: { ...objectOf({ reason: TEXT, message: TEXT }), type: ['object', 'string'] },
  reason: TEXT,
  task_number: { type: 'number' },
  task_content: TEXT,
  source: { enum: ['static', 'dynamic'] },
  violation_type: TEXT,
  required_action: TEXT,
  current_phase_content: TEXT,
  artifacts_available: FREE,
  detail: objectOf({ error: TEXT, message: TEXT }),
  ok: FLAG,
  checkpoint_passed: FLAG,
  phase_completed: PHASE_ID,
  item_completed: { type: ['string', 'null'] },
  next_phase: PHASE_ID,
  next_phase_content: TEXT,
  workflow_complete: FLAG,
  attempt: COUNT,
  missing_evidence: { type: 'array', items: TEXT },
  required_format: FREE,
  examples: FREE,
  blockers: BLOCKERS,
  ask: TEXT,
  would_refuse: BLOCKERS,
  warnings: WARNINGS,
  phase_token: TEXT,
  problems: listOf({ file: TEXT, line: COUNT, column: COUNT, message: TEXT }),
  truncated: FLAG,
  truncated_parts: { type: 'array', items: TEXT },
  rest: TEXT,
} as const satisfies Readonly<Record<string, JsonObject>>;

/** The name of a field of an answer about a session. */
export type SessionField = keyof typeof SESSION_FIELDS;

const EVERY_ANSWER = ['session_id', 'status', 'next_action', 'error', 'message', 'hint'] as const;
const PHASE = [
  'phase',
  'phase_number',
  'phase_name',
  'phase_content',
  'artifacts_from_previous',
  'checkpoint_criteria',
  'tasks',
  'task_count',
] as const;
const GOAL = ['goal', 'goal_by'] as const;
const SKIPPED = [
  'violation_type',
  'reason',
  'required_action',
  'current_phase',
  'current_phase_content',
  'artifacts_available',
  'progress',
] as const;

/** The schema of each tool's answers as clients are told it: every answer says what to do next. */
export const SESSION_ANSWERS = {
  start_workflow: answerWith([...PHASE, ...GOAL, 'workflow_overview', 'resumed', 'trusted', 'blockers']),
  get_workflow_state: answerWith([
    'workflow',
    'target',
    ...GOAL,
    'current_phase',
    'completed_phases',
    'progress',
    'attempts',
    'gate',
    'questions',
    'answers',
    'escalation',
    'ring',
    'trusted',
  ]),
  get_current_phase: answerWith([...PHASE, ...GOAL, 'gate'], { gate: FREE }),
  get_phase: answerWith([...PHASE, ...SKIPPED]),
  get_task: answerWith(['phase', 'task_number', 'task_content', 'source', ...SKIPPED]),
  complete_phase: answerWith(
    [
      ...SKIPPED,
      'checkpoint_passed',
      'phase',
      'phase_completed',
      'next_phase',
      'next_phase_content',
      'checkpoint_criteria',
      'workflow_complete',
      'missing_evidence',
      'required_format',
      'blockers',
      'would_refuse',
      'warnings',
      'attempt',
      'gate',
      'phase_token',
    ],
    { checkpoint_criteria: { type: 'object', description: 'of the next phase' } },
  ),
  ask_human: answerWith(['current_phase', 'questions', 'answers', 'gate']),
  report_blocked: answerWith(['current_phase', 'escalation', 'blockers']),
} as const;

/** What clients are told is paid for in every conversation: the insides of most fields stay unsaid. */
function answerWith(names: readonly SessionField[], changed: JsonObject = {}): JsonObject {
  const fields = [...EVERY_ANSWER, ...names].map((name) => [name, toldAs(name)] as const);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(fields), ...changed },
    required: ['next_action'],
  };
}

function toldAs(name: SessionField): JsonObject {
  const schema: JsonObject = SESSION_FIELDS[name];
  if (name === 'tasks') {
    const items = { type: 'object', properties: { number: COUNT, name: TEXT } };
    return { type: 'array', items };
  }
  if (name === 'escalation') return FREE;
  if (schema.properties !== undefined) return { type: schema.type ?? 'object' };
  const { items } = schema;
  return items !== undefined && (items as JsonObject).properties !== undefined
    ? { type: 'array', items: FREE }
    : schema;
}

function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, additionalProperties: false };
}

function listOf(properties: JsonObject): JsonObject {
  return { type: 'array', items: objectOf(properties) };
}

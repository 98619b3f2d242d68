import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { JsonObject } from '@phasegate/core';

/** The run a call is about. */
export const SESSION: JsonObject = { type: 'string', description: 'the `session_id` of `start_workflow`' };

/** A phase as an agent names it. */
export const PHASE: JsonObject = {
  anyOf: [{ type: 'number' }, { type: 'string' }],
  description: 'id, number or name',
};

/** A phase id in an answer; null where a run has ended. */
export const PHASE_ID: JsonObject = { type: ['string', 'number', 'null'] };

/** Fields every answer about a run may have; `error` and `message` make it a refusal. */
export const RUN_FIELDS: JsonObject = {
  session_id: { type: 'string' },
  status: { enum: ['queued', 'active', 'waiting', 'escalated', 'completed', 'stopped'] },
  next_action: { type: 'string', description: 'the one legal call to make next' },
  error: { type: 'string' },
  message: { type: 'string' },
  hint: { type: 'string' },
};

/** Fields of a phase, beside those of a run. */
export const PHASE_FIELDS: JsonObject = {
  phase: PHASE_ID,
  phase_number: { type: 'integer' },
  phase_name: { type: 'string' },
  phase_content: { type: 'string' },
  artifacts_from_previous: { type: 'object' },
  checkpoint_criteria: { type: 'object' },
  tasks: {
    type: 'array',
    items: { type: 'object', properties: { number: { type: 'integer' }, name: { type: 'string' } } },
  },
  task_count: { type: 'integer' },
};

/** Fields of the refusal of a skipped phase (C1). */
export const SKIP_FIELDS: JsonObject = {
  violation_type: { type: 'string' },
  reason: { type: 'string' },
  required_action: { type: 'string' },
  current_phase: PHASE_ID,
  current_phase_content: { type: 'string' },
  artifacts_available: { type: 'object' },
  progress: { type: 'object' },
};

/** The schema of an answer about a run: every one says what to do next. */
export function runAnswer(...fields: readonly JsonObject[]): JsonObject {
  return {
    type: 'object',
    properties: Object.assign({}, RUN_FIELDS, ...fields) as JsonObject,
    required: ['next_action'],
  };
}

/**
 * A JSON Schema as the SDK takes it. It lets everything through: arguments are read by the tools themselves, which
 * understand more than a schema can say and answer in the shapes of the contract.
 */
export function describedBy(schema: JsonObject): StandardSchemaWithJSON<JsonObject, JsonObject> {
  return {
    '~standard': {
      version: 1,
      vendor: 'phasegate',
      validate: (value) => ({ value: value as JsonObject }),
      jsonSchema: { input: () => ({ ...schema }), output: () => ({ ...schema }) },
    },
  };
}

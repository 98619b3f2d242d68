import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { JsonObject } from '@phasegate/core';

/** The run a call is about. */
export const SESSION: JsonObject = { type: 'string', description: 'the `session_id` of `start_workflow`' };

/** A phase as an agent names it. */
export const PHASE: JsonObject = {
  anyOf: [{ type: 'number' }, { type: 'string' }],
  description: 'id, number or name',
};

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

import { isJsonObject } from '@phasegate/core';
import { compileSchema } from '@phasegate/core/model';
import type { CheckImplementation } from '../runtime/ports.ts';
import { scopePath } from './scopePath.ts';

/** Validates a submitted value against a JSON Schema and reports every problem at once. */
export const jsonSchema: CheckImplementation = {
  name: 'json_schema',
  summary: 'a submitted value fits a JSON Schema',
  class: 'claimed',
  reads: 'subject',
  parameters: {
    type: 'object',
    additionalProperties: false,
    required: ['schema'],
    properties: {
      schema: {
        type: ['object', 'boolean'],
        description: 'JSON Schema 2020-12 the value must fit',
      },
      path: {
        type: 'string',
        minLength: 1,
        description: 'Dotted path of the value, e.g. `result.plan`; the whole `result` by default',
      },
    },
  },
  async run({ with: { schema, path = 'result' }, subject }) {
    if (!isJsonObject(schema) && typeof schema !== 'boolean')
      throw new TypeError('the check has no `schema`');
    if (typeof path !== 'string') throw new TypeError('`path` must be a string');
    const compiled = compileSchema(schema);
    if (!compiled.ok) {
      const defects = compiled.problems.map((problem) => problem.message);
      throw new Error(`the schema cannot be used: ${defects.join('; ')}`);
    }
    const value = scopePath(subject.scope, path);
    if (value === undefined) return { passed: false, reason: `\`${path}\` is missing` };
    const problems = compiled.validate(value);
    if (problems.length === 0) return { passed: true, reason: `\`${path}\` fits the schema` };
    const listed = problems.map(
      (problem) => `\`${path}${problem.path.replaceAll('/', '.')}\` ${problem.message}`,
    );
    return { passed: false, reason: listed.join('; ') };
  },
};

import type { CheckImplementation } from '../runtime/ports.ts';
import { newestArtifact } from './submitted.ts';

/** Asks whether artifacts of all the named types were submitted in this run. */
export const artifactsPresent: CheckImplementation = {
  name: 'artifacts_present',
  summary: 'artifacts of all the named types were submitted',
  class: 'claimed',
  reads: 'subject',
  parameters: {
    type: 'object',
    additionalProperties: false,
    required: ['types'],
    properties: {
      types: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', minLength: 1, description: 'Type of an artifact' },
        description: 'Types of which each must have been submitted',
      },
    },
  },
  async run({ with: { types }, subject: { scope } }) {
    if (!Array.isArray(types) || types.length === 0 || !types.every((type) => typeof type === 'string')) {
      throw new TypeError('`types` must be a list of names');
    }
    const missing = types.filter((type) => (newestArtifact(scope, type) ?? null) === null);
    if (missing.length === 0) return { passed: true, reason: `${types.length} artifacts were submitted` };
    return { passed: false, reason: missing.map((type) => `no \`${type}\` was submitted`).join('; ') };
  },
};

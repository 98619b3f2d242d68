import type { CheckImplementation } from '../runtime/ports.ts';

/** Asks whether the workspace still holds what it held when an artifact was handed in. */
export const madeFromThisTree: CheckImplementation = {
  name: 'made_from_this_tree',
  summary: 'the workspace holds what it held when an artifact with `bound: true` was handed in',
  class: 'verified',
  parameters: {
    type: 'object',
    additionalProperties: false,
    required: ['artifact'],
    properties: {
      artifact: { type: 'string', minLength: 1, description: 'Type of the artifact, of an earlier phase' },
    },
  },
  async run({ with: { artifact }, record }) {
    if (typeof artifact !== 'string') throw new TypeError('`artifact` must be a name');
    const phase = record?.madeIn(artifact) ?? null;
    if (record === undefined || phase === null)
      return { passed: false, reason: `no \`${artifact}\` was handed in` };
    const { made } = record.completion(phase) ?? {};
    if (made === undefined || record.state === null) {
      const reason = `it is not on record what the workspace held when \`${artifact}\` was handed in`;
      return { passed: false, reason };
    }
    if (made === record.state) return { passed: true, reason: `\`${artifact}\` is about this tree` };
    return {
      passed: false,
      reason: `the workspace changed since \`${artifact}\` was handed in phase \`${phase}\``,
    };
  },
};

import * as z from 'zod';
import { gateShape } from './gateSchema.ts';
import { camelCase } from './spelling.ts';
import { strictMap } from './strictMap.ts';
import { phaseRules, phaseShape } from './workflowSchema.ts';

/** Keys of a phase that a format with texts of its own takes over from the contract; the others are its texts. */
const TAKEN = [
  'allowed_tools',
  'forbidden_tools',
  'tool_constraints',
  'writes',
  'network',
  'only_when',
  'preconditions',
  'postconditions',
  'required_artifacts',
  'required_evidence',
  'gate',
  'gates',
  'parallel',
  'parallel_key',
  'on_empty',
  'timeout',
  'next',
  'transitions',
  'command',
  'dispatch',
] as const;

/** Keys of a phase and of its gate in one map, beside those that ask for a human in fewer words. */
export const PHASE_MODEL_KEYS: readonly string[] = [
  ...TAKEN,
  ...Object.keys(gateShape),
  'human_approval_required',
  'human_gate',
  'human_gate_reason',
];

/** Whether a key, in either spelling, is one of them. */
export function isPhaseModelKey(key: string): boolean {
  return PHASE_MODEL_KEYS.some((known) => known === key || camelCase(known) === key);
}

/** The shape of these keys: the contract's own. */
export const phaseModelSchema = strictMap(
  { description: 'What a phase of a folder holds beside its texts.', ...phaseRules },
  {
    ...Object.fromEntries(TAKEN.map((key) => [key, phaseShape[key] as z.ZodType])),
    ...gateShape,
    human_approval_required: z.boolean().optional(),
    human_gate: z.union([z.string(), gateShape.human]).optional(),
    human_gate_reason: z.string().min(1).optional(),
  },
);
